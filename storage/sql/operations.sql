-- What operators do to routes and nodes. Lock order: route, node.

-- name: lock_route_state
-- $1 route. Locks the route FOR UPDATE. Primary key.
SELECT state, state_reason, environment || ':' || region AS name
  FROM routes WHERE id = $1::int FOR UPDATE;

-- name: set_route_state
-- $1 route, $2 paused or running, $3 reason. After lock_route_state.
UPDATE routes SET state = $2::text, state_reason = $3::text, waiting_until = NULL
WHERE id = $1::int;

-- name: set_rate_override
-- $1 route, $2 rate in millihertz or NULL. After lock_route_state.
UPDATE routes SET rate_override_mhz = $2::bigint WHERE id = $1::int;

-- name: find_nodes
-- $1 node, or NULL for those that have not stopped and were seen within a day. Locks nothing.
SELECT n.id, n.name, n.version,
       to_char(n.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS started_at,
       greatest(0, extract(epoch FROM clock_timestamp() - n.seen_at)::float8) AS seen_ago_s,
       n.stop_requested_at IS NOT NULL AS is_stopping, n.stopped_at IS NOT NULL AS has_stopped,
       coalesce(s.shards, 0)::int AS shards, coalesce(s.in_flight, 0)::int AS in_flight
  FROM nodes n
  LEFT JOIN (SELECT owner, count(*) AS shards, sum(in_flight) AS in_flight
               FROM shards WHERE owner IS NOT NULL GROUP BY owner) s ON s.owner = n.id
 WHERE CASE WHEN $1::bigint IS NULL
            THEN n.stopped_at IS NULL AND n.seen_at > clock_timestamp() - interval '1 day'
            ELSE n.id = $1::bigint END
 ORDER BY n.id
 LIMIT 200;

-- name: request_node_stop
-- $1 node. Locks the node. Primary key. No row: there is none, or it has stopped.
UPDATE nodes SET stop_requested_at = coalesce(stop_requested_at, clock_timestamp())
 WHERE id = $1::bigint AND stopped_at IS NULL
RETURNING name;
