-- The route's row: grid, brake, quota cache, daily grants, state.
--
-- Whatever depends on more than the row itself (who owns the shards, the sum of the grants) takes
-- two statements in a transaction: lock_route first, so that the second one's snapshot is newer
-- than the lock. Nanoseconds are exact: extract() gives a numeric with microseconds.

-- name: read_route
-- $1 route. Locks nothing. Primary key.
SELECT v.* FROM route_readings v WHERE v.id = $1::int;

-- name: read_routes
-- $1 routes. Locks nothing. Primary key.
SELECT v.* FROM route_readings v WHERE v.id = ANY ($1::int[]) ORDER BY v.id;

-- name: lock_route
-- $1 route. Locks the route FOR UPDATE: against acquisitions, which take it FOR SHARE, too.
SELECT r.id, r.max_rate_mhz FROM routes r WHERE r.id = $1::int FOR UPDATE;

-- name: append_grid
-- $1 route, $2 target, $3 node, $4 lead, $5 lead if the node is the only owner (or NULL), $6 also
-- where the target stays (couriers refuse the grids before).
-- After lock_route. The newest grid, started or not, becomes the current one and the new one
-- follows it; nothing happens where the newest has the target already. Owners of older generations
-- count: they still send.
UPDATE routes r
SET grid_number = r.grid_number + (r.next_start_ns IS NOT NULL)::int,
    grid_start_ns = coalesce(r.next_start_ns, r.grid_start_ns),
    target_mhz = coalesce(r.next_target_mhz, r.target_mhz),
    next_start_ns = greatest(
      coalesce(r.next_start_ns, r.grid_start_ns) + 1,
      (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint
        + CASE WHEN EXISTS (SELECT 1 FROM shards s
                            WHERE s.route = r.id AND s.owner IS NOT NULL AND s.owner <> $3::bigint)
               THEN $4::bigint ELSE coalesce($5::bigint, $4::bigint) END),
    next_target_mhz = $2::bigint
WHERE r.id = $1::int AND ($6::bool OR coalesce(r.next_target_mhz, r.target_mhz) <> $2::bigint);

-- name: prolong_brake
-- $1 route, $2 duration. The cached quota counts as stale from here on.
UPDATE routes
SET brake_until = greatest(brake_until,
                           clock_timestamp() + make_interval(secs => $2::bigint / 1e9)),
    quota_at = '-infinity'
WHERE id = $1::int;

-- name: begin_quota_refresh
-- $1 route, $2 oldest age that is still good. One row for the one that may ask. A second one waits
-- for the row and then finds the condition false.
UPDATE routes
SET refreshing_until = clock_timestamp() + interval '5 seconds'
WHERE id = $1::int AND refreshing_until <= clock_timestamp()
  AND quota_at < clock_timestamp() - make_interval(secs => $2::bigint / 1e9)
RETURNING id;

-- name: store_quota
-- $1 route, $2 rate, $3 per 24 h, $4 sent in 24 h. After lock_route, so that no grant is missed. An
-- hour that only partly lies in the last 24 h counts as a whole. A wait for something else than the
-- daily quota runs its time.
WITH forgotten AS (
  DELETE FROM route_grants
  WHERE route = $1::int AND hour <= clock_timestamp() - interval '25 hours'),
own AS MATERIALIZED (
  SELECT coalesce(sum(granted), 0)::bigint AS granted FROM route_grants
  WHERE route = $1::int AND hour > clock_timestamp() - interval '25 hours'),
room AS MATERIALIZED (
  SELECT ($3::bigint < 0 OR greatest($4::bigint, own.granted) < $3::bigint)
         AND (w.state_reason = 'daily quota'
              OR coalesce(w.waiting_until <= clock_timestamp(), true)) AS again
  FROM own, routes w WHERE w.id = $1::int)
UPDATE routes r
SET quota_at = clock_timestamp(),
    refreshing_until = clock_timestamp() + interval '1 second',
    max_rate_mhz = $2::bigint, max_24h = $3::bigint, sent_24h = $4::bigint,
    granted = 0, own_24h = own.granted,
    state = CASE WHEN r.state = 'waiting' AND room.again THEN 'running' ELSE r.state END,
    state_reason = CASE WHEN r.state = 'waiting' AND room.again THEN '' ELSE r.state_reason END,
    waiting_until = CASE WHEN room.again THEN NULL ELSE r.waiting_until END
FROM own, room
WHERE r.id = $1::int;

-- name: draw_grant
-- $1 route, $2 wanted. Locks the route. Grants all, a part or nothing; nothing left also makes the
-- route wait. A route that waits, is stopped or paused gets nothing and stays as it is.
WITH locked AS MATERIALIZED (
  SELECT r.id, r.max_24h,
         r.state = 'running' OR (r.state = 'waiting' AND r.waiting_until <= clock_timestamp())
           AS may_draw,
         r.max_24h - greatest(r.sent_24h, r.own_24h) - r.granted AS room
  FROM routes r WHERE r.id = $1::int FOR UPDATE),
amount AS MATERIALIZED (
  SELECT id, coalesce(max_24h, -1) >= 0 AS limited, may_draw,
         CASE WHEN NOT may_draw THEN 0
              WHEN coalesce(max_24h, -1) < 0 THEN $2::bigint
              ELSE least($2::bigint, greatest(room, 0)) END AS granted
  FROM locked),
drawn AS (
  UPDATE routes r
  SET granted = r.granted + a.granted,
      state = CASE WHEN a.granted > 0 THEN 'running' ELSE 'waiting' END,
      state_reason = CASE WHEN a.granted > 0 THEN '' ELSE 'daily quota' END,
      waiting_until = CASE WHEN a.granted > 0 THEN NULL
                           ELSE clock_timestamp() + interval '1 hour' END
  FROM amount a
  WHERE r.id = a.id AND a.limited AND a.may_draw),
noted AS (
  INSERT INTO route_grants AS g (route, hour, granted)
  SELECT id, date_trunc('hour', clock_timestamp(), 'UTC'), granted FROM amount
  WHERE limited AND granted > 0
  ON CONFLICT (route, hour) DO UPDATE SET granted = g.granted + excluded.granted)
SELECT granted FROM amount;

-- name: wait_route
-- $1 route, $2 duration, $3 reason. A stopped or paused route stays so; a longer wait stays, with
-- its reason.
UPDATE routes
SET state = 'waiting', state_reason = $3::text,
    waiting_until = clock_timestamp() + make_interval(secs => $2::bigint / 1e9)
WHERE id = $1::int AND state IN ('running', 'waiting')
  AND coalesce(waiting_until < clock_timestamp() + make_interval(secs => $2::bigint / 1e9), true);

-- name: note_trouble
-- $1 route, $2 how the provider fails, or an empty text. Primary key.
UPDATE routes SET state_reason = $2::text
WHERE id = $1::int AND state = 'running' AND state_reason <> $2::text;

-- name: stop_route
-- $1 route, $2 reason. A paused route, too: its operator should see what the provider says.
UPDATE routes SET state = 'stopped', state_reason = $2::text, waiting_until = NULL
WHERE id = $1::int;

-- name: read_quota
-- $1 route. No row unless the cache is filled. A stale mark (a brake) reads as ten years.
SELECT max_rate_mhz, max_24h, sent_24h,
       CASE WHEN quota_at = '-infinity' THEN 10::bigint * 365 * 86400 * 1000000000
            ELSE (extract(epoch FROM clock_timestamp() - quota_at) * 1000000000)::bigint
       END AS age_ns
FROM routes
WHERE id = $1::int AND max_rate_mhz IS NOT NULL;
