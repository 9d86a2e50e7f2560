-- Streams: what shares a route.

-- name: due_streams
-- $1 routes. Running direct streams and campaigns that are being sent, with their earliest queued
-- row: one probe of message_states_due each. (An infinite due time is never subtracted from: one
-- such row must not hide the others.) Finished campaigns cost nothing: they are found by
-- campaigns_open. Locks nothing.
WITH candidates AS (
  SELECT s.id, s.route, s.project, s.priority, s.weight, s.rate_cap_mhz, false AS is_campaign
  FROM streams s
  WHERE s.route = ANY ($1::int[]) AND s.kind = 'direct' AND s.state = 'running'
  UNION ALL
  SELECT s.id, s.route, s.project, s.priority, s.weight, s.rate_cap_mhz, true
  FROM campaigns c JOIN streams s ON s.id = c.id
  WHERE c.state = 'sending' AND s.route = ANY ($1::int[]) AND s.state = 'running')
SELECT s.id, s.route, s.project, s.priority, s.weight, s.rate_cap_mhz, s.is_campaign,
       CASE WHEN due.due_at > clock_timestamp()
            THEN (extract(epoch FROM due.due_at - clock_timestamp()) * 1000000000)::bigint
            ELSE 0 END AS due_in_ns
FROM candidates s
CROSS JOIN LATERAL (
  SELECT m.due_at FROM message_states m
  WHERE m.stream = s.id AND m.status = 0
  ORDER BY m.due_at, m.id LIMIT 1) due
WHERE due.due_at <= clock_timestamp() + interval '1 minute'
ORDER BY s.route, s.priority, s.id;

-- name: find_direct_stream
-- $1 route, $2 project, $3 priority. Unique index streams_direct.
SELECT id
  FROM streams
 WHERE route = $1::int AND project = $2::bigint AND priority = $3::smallint AND kind = 'direct';

-- name: insert_direct_stream
-- $1 route, $2 project, $3 priority. The id is made as id_source makes them, with a lane for
-- itself: 41 bits of milliseconds since 2024, 10 of lane, 12 of sequence. Nothing happens where
-- somebody was first, or where the id is taken: the caller looks again.
INSERT INTO streams (id, project, route, kind, priority)
VALUES ((((extract(epoch FROM clock_timestamp()) - 1704067200) * 1000)::bigint << 22)
          | (nextval('id_lanes') << 12), $2::bigint, $1::int, 'direct', $3::smallint)
ON CONFLICT DO NOTHING;

-- name: find_routes
-- $1 environment. Unique index routes_environment_region_key. Locks nothing.
SELECT id, region, state FROM routes WHERE environment = $1::text ORDER BY region;

-- name: send_wake
-- $1 the route's text. Alone in its transaction: NOTIFY serialises commits.
SELECT pg_notify('paceline_wake', $1::text);

-- name: probe_connection
SELECT 1;
