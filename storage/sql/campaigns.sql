-- Campaigns: a stream of the same id, a frozen audience, counters.

-- name: insert_campaign_stream
-- $1 id, $2 project, $3 route, $4 priority, $5 weight, $6 rate cap in millihertz or NULL.
INSERT INTO streams (id, project, route, kind, priority, weight, rate_cap_mhz)
VALUES ($1::bigint, $2::bigint, $3::int, 'campaign', $4::smallint, $5::int, $6::bigint);

-- name: insert_campaign
-- $1 id, $2 content, $3 name, $4 audience, $5 first and $6 last message, $7 microseconds since it
-- was asked for.
INSERT INTO campaigns (id, content, name, state, audience, first_message, last_message, expanded_to,
                       requested_at)
VALUES ($1::bigint, $2::bigint, $3, 'sending', $4::bigint, $5::bigint, $6::bigint, $5::bigint - 1,
        clock_timestamp() - $7::bigint * interval '1 microsecond');

-- name: open_campaigns
-- $1 routes int[]. Locks nothing. Index: campaigns_open.
-- A canceled one is open as long as messages of it are (two days, which any sweep is within); a
-- sending one until it is finished; a paused one if nothing but that is left to do.
SELECT c.id, s.route, c.state = 'canceled' AS canceled, c.expansion_done, n.open
  FROM campaigns c
  JOIN streams s ON s.id = c.id
 CROSS JOIN LATERAL (SELECT coalesce(sum(k.open), 0)::bigint AS open
                       FROM counters k WHERE k.stream = c.id) n
 WHERE c.state IN ('sending', 'paused', 'canceled') AND s.route = ANY ($1::int[])
   AND (c.state <> 'canceled' OR c.finished_at > clock_timestamp() - interval '2 days')
   AND CASE c.state WHEN 'sending' THEN true WHEN 'canceled' THEN n.open <> 0
                    ELSE c.expansion_done AND n.open = 0 END
 ORDER BY c.id;

-- name: expand_page
-- $1 campaign, $2 page, $3 writer.
-- Locks: the stream FOR SHARE, the campaign, then counters. Index: messages_pkey from expanded_to
-- on.
-- Two expanders of one campaign wait for each other at its row and go on where the other stopped.
-- Other messages' ids may lie between the campaign's: at most 5 pages of ids are looked at, and
-- where they hold less than a page of its own, it goes on behind them the next time.
WITH stream AS MATERIALIZED (
  SELECT s.id, s.route FROM streams s WHERE s.id = $1::bigint AND s.state = 'running' FOR SHARE OF s
), campaign AS MATERIALIZED (
  SELECT c.id, c.expanded_to, c.last_message
    FROM campaigns c
   WHERE (SELECT count(*) FROM stream) = 1
     AND c.id = $1::bigint AND c.state = 'sending' AND NOT c.expansion_done
     FOR UPDATE OF c
), page AS MATERIALIZED (
  SELECT m.id, m.ordinal, cardinality(m.recipients) AS cost
    FROM campaign c
   CROSS JOIN LATERAL (
         SELECT l.id, l.ordinal, l.recipients
           FROM (SELECT g.id, g.stream, g.ordinal, g.recipients
                   FROM messages g
                  WHERE g.id > c.expanded_to AND g.id <= c.last_message
                  ORDER BY g.id
                  LIMIT 5 * $2::int) l
          WHERE l.stream = c.id
          ORDER BY l.id
          LIMIT $2::int) m
), inserted AS (
  INSERT INTO message_states (id, stream, route, due_at, changed_at, bucket, status, cost)
  SELECT p.id, s.id, s.route, (SELECT clock_timestamp()), (SELECT clock_timestamp()),
         p.ordinal % 1024, 0, p.cost
    FROM page p CROSS JOIN stream s
   ORDER BY p.id
  RETURNING 1
), added AS MATERIALIZED (
  SELECT count(*) AS n FROM inserted
), seen AS MATERIALIZED (
  SELECT CASE WHEN a.n = $2::int THEN (SELECT max(id) FROM page)
              ELSE (SELECT max(l.id)
                      FROM campaign c
                     CROSS JOIN LATERAL (
                           SELECT g.id
                             FROM messages g
                            WHERE g.id > c.expanded_to AND g.id <= c.last_message
                            ORDER BY g.id
                            LIMIT 5 * $2::int) l) END AS up_to
    FROM added a
), moved AS (
  UPDATE campaigns c
     SET expanded = c.expanded + a.n, expanded_to = e.up_to,
         expansion_done = c.expanded + a.n = c.audience
    FROM added a CROSS JOIN seen e
   WHERE c.id = $1::bigint AND e.up_to IS NOT NULL
  RETURNING c.expansion_done
), counted AS (
  INSERT INTO counters AS k (stream, writer, total, open)
  SELECT $1::bigint, $3::int, a.n, a.n
    FROM added a
   WHERE a.n > 0 AND (SELECT count(*) FROM moved) = 1
  ON CONFLICT (stream, writer) DO UPDATE
     SET total = k.total + excluded.total, open = k.open + excluded.open
)
SELECT a.n AS inserted, (SELECT count(*) FROM moved) = 1 AS moved,
       coalesce((SELECT expansion_done FROM moved),
                (SELECT c.expansion_done FROM campaigns c WHERE c.id = $1::bigint),
                false) AS done
  FROM added a;

-- name: cancel_page
-- $1 campaign, $2 page, $3 writer.
-- Locks: messages, skipping held ones, so their order doesn't matter; then counters. A canceled
-- campaign never comes back, so its row needs no lock. Index: message_states_due (hence the plain
-- `status = 0`).
WITH locked AS MATERIALIZED (
  SELECT m.id
    FROM message_states m
   WHERE (SELECT c.state FROM campaigns c WHERE c.id = $1::bigint) = 'canceled'
     AND m.stream = $1::bigint AND m.status = 0
   ORDER BY m.due_at, m.id
   LIMIT $2::int
     FOR UPDATE OF m SKIP LOCKED
), changed AS (
  UPDATE message_states t
     SET status = 11, reason = 14, changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING 1
), added AS MATERIALIZED (
  SELECT count(*) AS n FROM changed
), counted AS (
  INSERT INTO counters AS k (stream, writer, open, canceled)
  SELECT $1::bigint, $3::int, -a.n, a.n FROM added a WHERE a.n > 0
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = k.open + excluded.open, canceled = k.canceled + excluded.canceled
)
SELECT n FROM added;

-- name: lock_campaign
-- $1 campaign. Locks: the stream, waiting for claims that hold it FOR SHARE, then the campaign.
SELECT c.state
  FROM streams s JOIN campaigns c ON c.id = s.id
 WHERE s.id = $1::bigint
   FOR UPDATE OF s, c;

-- name: set_campaign_state
-- $1 campaign, $2 sending, paused or canceled; after lock_campaign in the same transaction.
WITH stream AS (
  UPDATE streams SET state = CASE $2::text WHEN 'sending' THEN 'running' ELSE $2::text END,
                     state_reason = ''
   WHERE id = $1::bigint
)
UPDATE campaigns
   SET state = $2::text, expansion_done = expansion_done OR $2::text = 'canceled',
       finished_at = CASE WHEN $2::text = 'canceled' THEN clock_timestamp() END
 WHERE id = $1::bigint;

-- name: stream_kind
-- $1 stream, which may be direct mail. Locks nothing. Primary key.
SELECT kind FROM streams WHERE id = $1::bigint;

-- name: pause_sending
-- $1 campaign, $2 why; after lock_campaign in the same transaction. No row: it is not being sent.
WITH paused AS (
  UPDATE campaigns SET state = 'paused' WHERE id = $1::bigint AND state = 'sending' RETURNING id
)
UPDATE streams s SET state = 'paused', state_reason = $2::text FROM paused p WHERE s.id = p.id
RETURNING 1;

-- name: campaign_may_finish
-- $1 campaign. The cheap look before finish_campaign locks anything.
SELECT true
  FROM campaigns c
 WHERE c.id = $1::bigint AND c.state IN ('sending', 'paused') AND c.expansion_done
   AND coalesce((SELECT sum(k.open) FROM counters k WHERE k.stream = c.id), 0) = 0;

-- name: finish_campaign
-- $1 campaign; after lock_campaign in the same transaction: its snapshot is younger than the lock,
-- so it sees what a record that was reopening a message has committed.
WITH ready AS (
  UPDATE campaigns c
     SET state = 'finished', finished_at = clock_timestamp()
   WHERE c.id = $1::bigint AND c.state IN ('sending', 'paused') AND c.expansion_done
     AND coalesce((SELECT sum(k.open) FROM counters k WHERE k.stream = c.id), 0) = 0
  RETURNING c.id
)
UPDATE streams s SET state = 'finished', state_reason = '' FROM ready r WHERE s.id = r.id
RETURNING s.id;

-- name: find_campaigns
-- $1 least id, $2 id above the greatest, $3 project or NULL, $4 environment or NULL, $5 limit.
-- Locks nothing. Index: campaigns_pkey backwards, counters_pkey.
SELECT c.id, s.project, c.name, r.environment || ':' || r.region AS route, c.state, c.audience,
       c.expanded, k.open, k.unknown, k.accepted, k.rejected, k.suppressed, k.canceled, k.expired,
       k.throttled,
       to_char(c.requested_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS requested_at,
       to_char(c.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS finished_at,
       extract(epoch FROM k.first_start - c.requested_at)::float8 AS first_start_s,
       extract(epoch FROM k.last_start - c.requested_at)::float8 AS last_start_s,
       extract(epoch FROM k.last_record - c.requested_at)::float8 AS last_record_s,
       extract(epoch FROM c.finished_at - c.requested_at)::float8 AS finished_s,
       extract(epoch FROM clock_timestamp() - c.requested_at)::float8 AS age_s,
       v.target_mhz, f.in_flight, s.state_reason, v.state AS route_state,
       v.state_reason AS route_reason, v.waiting_left_ns
  FROM (SELECT a.*
          FROM campaigns a
          JOIN streams b ON b.id = a.id
          JOIN routes o ON o.id = b.route
         WHERE a.id >= $1::bigint AND a.id < $2::bigint
           AND ($3::bigint IS NULL OR b.project = $3::bigint)
           AND ($4::text IS NULL OR o.environment = $4::text)
         ORDER BY a.id DESC
         LIMIT $5::int) c
  JOIN streams s ON s.id = c.id
  JOIN routes r ON r.id = s.route
  JOIN route_readings v ON v.id = s.route
 CROSS JOIN LATERAL (
       SELECT coalesce(sum(open), 0)::bigint AS open, coalesce(sum(unknown), 0)::bigint AS unknown,
              coalesce(sum(accepted), 0)::bigint AS accepted,
              coalesce(sum(rejected), 0)::bigint AS rejected,
              coalesce(sum(suppressed), 0)::bigint AS suppressed,
              coalesce(sum(canceled), 0)::bigint AS canceled,
              coalesce(sum(expired), 0)::bigint AS expired,
              coalesce(sum(throttled), 0)::bigint AS throttled,
              min(first_start) AS first_start, max(last_start) AS last_start,
              max(last_record) AS last_record
         FROM counters WHERE stream = c.id) k
 CROSS JOIN LATERAL (
       SELECT coalesce(sum(h.in_flight), 0)::bigint AS in_flight
         FROM shards h WHERE h.route = s.route AND h.owner IS NOT NULL) f
 ORDER BY c.id DESC;

-- name: dispatch_curve
-- $1 stream. Locks nothing. Index: dispatch_curve_pkey.
SELECT second, sum(starts)::bigint AS starts
  FROM dispatch_curve
 WHERE stream = $1::bigint
 GROUP BY second
 ORDER BY second;
