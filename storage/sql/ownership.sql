-- Nodes, routes' topology, shards, epochs. Lock order: route, shards by id, node.
--
-- Giving a shard away also gives it a fresh epoch: a claim of the old owner that reaches the server
-- late finds nothing, instead of leaving rows behind that nobody looks for.

-- name: register_node
-- $1 name, $2 version.
INSERT INTO nodes (id, name, version)
VALUES (nextval('node_numbers'), $1::text, $2::text)
RETURNING id;

-- name: retire_node
-- $1 node.
UPDATE nodes SET seen_at = clock_timestamp(), stopped_at = coalesce(stopped_at, clock_timestamp())
WHERE id = $1::bigint;

-- name: find_route
-- $1 environment, $2 region. Unique index.
SELECT id, shard_count FROM routes WHERE environment = $1::text AND region = $2::text;

-- name: seed_route
-- $1 environment, $2 region, $3 shard count. Route and shards together or nothing; a second node
-- waits for the first one's commit and then does nothing.
WITH route AS (
  INSERT INTO routes (environment, region, shard_count)
  VALUES ($1::text, $2::text, $3::int)
  ON CONFLICT (environment, region) DO NOTHING
  RETURNING id, generation, shard_count)
INSERT INTO shards (route, generation, index, count)
SELECT r.id, r.generation, i, r.shard_count
FROM route r, generate_series(0, r.shard_count - 1) i;

-- name: list_shards
-- $1 route. Locks nothing. Unique index (route, generation, index).
SELECT s.id, r.environment, r.region, s.index, s.count, coalesce(s.owner, 0) AS owner,
       coalesce(n.name, '') AS owner_name, s.epoch, s.renewal, s.in_flight, s.last_slot_ns
FROM routes r
JOIN shards s ON s.route = r.id AND s.generation = r.generation
LEFT JOIN nodes n ON n.id = s.owner
WHERE r.id = $1::int
ORDER BY s.index;

-- name: acquire_shard
-- $1 shard, $2 node, $3 epoch and $4 renewal number as seen. Locks the route FOR SHARE, then the
-- shard; primary keys. The third way in makes a repeat after a lost answer succeed: what this very
-- node got and neither renewed nor used.
WITH topology AS MATERIALIZED (
  SELECT r.generation FROM routes r
  WHERE r.id = (SELECT s.route FROM shards s WHERE s.id = $1::int)
  FOR SHARE OF r),
old AS MATERIALIZED (
  SELECT s.id, s.owner, s.epoch
  FROM topology t JOIN shards s ON s.id = $1::int AND s.generation = t.generation
  WHERE s.owner IS NULL
     OR (s.epoch = $3::bigint AND s.renewal = $4::bigint)
     OR (s.owner = $2::bigint AND s.renewal = 0 AND s.group_no = 0)
  FOR UPDATE OF s),
lost AS (
  INSERT INTO lost_epochs (epoch, shard)
  SELECT epoch, id FROM old WHERE owner IS NOT NULL
  ON CONFLICT (epoch) DO NOTHING)
UPDATE shards s
SET owner = $2::bigint, epoch = nextval('epochs'), renewal = 0, group_no = 0, in_flight = 0
FROM old
WHERE s.id = old.id
RETURNING s.epoch, s.last_slot_ns;

-- name: renew_shards
-- $1 node, $2 shards, $3 their epochs, $4 in flight, $5 routes to read. Locks the shards in id
-- order, then the node. A reading is as old as the statement's snapshot, which a wait for a lock
-- can age: its time is therefore the statement's start.
WITH held AS MATERIALIZED (
  SELECT s.id, h.in_flight
  FROM unnest($2::int[], $3::bigint[], $4::int[]) h(shard, epoch, in_flight)
  JOIN shards s ON s.id = h.shard AND s.epoch = h.epoch AND s.owner = $1::bigint
  ORDER BY s.id FOR UPDATE OF s),
renewed AS (
  UPDATE shards s SET renewal = s.renewal + 1, in_flight = held.in_flight
  FROM held WHERE s.id = held.id
  RETURNING s.id),
touched AS (
  UPDATE nodes SET seen_at = clock_timestamp() WHERE id = $1::bigint
  RETURNING stop_requested_at IS NOT NULL AS stop)
SELECT (SELECT coalesce(array_agg(n.id ORDER BY n.id), '{}') FROM renewed n) AS renewed,
       coalesce((SELECT stop FROM touched), false) AS stop_requested, v.*
FROM (SELECT 1) once
LEFT JOIN route_readings v ON v.id = ANY ($5::int[])
ORDER BY v.id;

-- name: read_clock
-- Locks nothing.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint AS now_ns;

-- name: release_shards
-- $1 node, $2 shards, $3 their epochs. Locks the shards in id order.
WITH held AS MATERIALIZED (
  SELECT s.id
  FROM unnest($2::int[], $3::bigint[]) h(shard, epoch)
  JOIN shards s ON s.id = h.shard AND s.epoch = h.epoch AND s.owner = $1::bigint
  ORDER BY s.id FOR UPDATE OF s)
UPDATE shards s
SET owner = NULL, epoch = nextval('epochs'), renewal = 0, group_no = 0, in_flight = 0
FROM held WHERE s.id = held.id;

-- name: abandon_shard
-- $1 node, $2 shard, $3 epoch. Locks the shard. Where the epoch is another one already, whoever
-- took the shard has noted the loss.
WITH held AS MATERIALIZED (
  SELECT s.id, s.epoch FROM shards s
  WHERE s.id = $2::int AND s.epoch = $3::bigint AND s.owner = $1::bigint
  FOR UPDATE OF s),
lost AS (
  INSERT INTO lost_epochs (epoch, shard) SELECT epoch, id FROM held
  ON CONFLICT (epoch) DO NOTHING)
UPDATE shards s
SET owner = NULL, epoch = nextval('epochs'), renewal = 0, group_no = 0, in_flight = 0
FROM held WHERE s.id = held.id;

-- name: read_durability
SELECT current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS synchronous_commit;

-- name: round_trip
-- $1 any text.
SELECT length($1::text);

-- name: next_id_lane
SELECT nextval('id_lanes');
