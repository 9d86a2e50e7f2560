-- Reads for `paceline status` and `paceline config check`. No locks, no parameters.

-- name: overview_routes
-- The grid that follows is in force from its start on, also while its row still calls it next.
-- rate_now: starts of two whole seconds, the last of which ended 1 s ago, since records trail the
-- calls by the provider's latency. Index: dispatch_curve_pkey, one range per running stream.
SELECT r.id, r.environment, r.region, r.state, r.state_reason, r.generation, r.shard_count,
       CASE WHEN g.has_begun THEN r.next_target_mhz ELSE r.target_mhz END AS target_mhz,
       CASE WHEN g.has_begun THEN NULL ELSE r.next_target_mhz END AS next_target_mhz,
       r.rate_override_mhz,
       r.max_rate_mhz, r.max_24h, r.sent_24h,
       CASE WHEN r.quota_at > '-infinity'
            THEN extract(epoch FROM clock_timestamp() - r.quota_at)::float8 END AS quota_age_s,
       CASE WHEN r.brake_until > clock_timestamp()
            THEN extract(epoch FROM r.brake_until - clock_timestamp())::float8
            ELSE 0 END AS brake_left_s,
       CASE WHEN r.waiting_until > clock_timestamp()
            THEN extract(epoch FROM r.waiting_until - clock_timestamp())::float8
            ELSE 0 END AS waiting_left_s,
       (SELECT coalesce(sum(c.starts), 0)::float8 / 2
          FROM streams s
          JOIN dispatch_curve c ON c.stream = s.id
           AND c.second >= floor(extract(epoch FROM now()))::bigint - 3
           AND c.second < floor(extract(epoch FROM now()))::bigint - 1
         WHERE s.route = r.id) AS rate_now
  FROM routes r
 CROSS JOIN LATERAL (
   SELECT coalesce(r.next_start_ns <= extract(epoch FROM clock_timestamp()) * 1000000000, false)
          AS has_begun) g
 ORDER BY r.environment, r.region;

-- name: overview_shards
SELECT r.environment, r.region, s.index, s.count, coalesce(n.name, '') AS owner_name,
       coalesce(s.owner, 0) AS owner, s.epoch, s.in_flight
  FROM routes r
  JOIN shards s ON s.route = r.id AND s.generation = r.generation
  LEFT JOIN nodes n ON n.id = s.owner
 ORDER BY r.environment, r.region, s.index;

-- name: overview_streams
-- Reads the counters of all streams: a few rows for each campaign that ever was.
SELECT s.id, r.environment, r.region, s.kind, coalesce(c.name, '') AS name,
       coalesce(c.state, s.state) AS state, s.state_reason, s.priority, s.weight,
       CASE WHEN c.state IN ('sending', 'paused', 'scheduled', 'prepared')
            THEN c.audience - c.expanded ELSE 0 END AS not_expanded,
       coalesce(k.open, 0)::bigint AS open, coalesce(k.unknown, 0)::bigint AS unknown
  FROM streams s
  JOIN routes r ON r.id = s.route
  LEFT JOIN campaigns c ON c.id = s.id
  LEFT JOIN (SELECT stream, sum(open) AS open, sum(unknown) AS unknown
               FROM counters GROUP BY stream) k ON k.stream = s.id
 WHERE k.open <> 0 OR k.unknown <> 0 OR c.state IN ('sending', 'paused', 'scheduled', 'prepared')
 ORDER BY s.id
 LIMIT 200;

-- name: server_limits
SELECT current_setting('server_version') AS version,
       current_setting('max_connections')::int AS max_connections,
       current_setting('superuser_reserved_connections')::int AS reserved,
       (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS in_use;
