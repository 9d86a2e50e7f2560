-- Outcomes, and what lost owners left behind.

-- name: record_outcomes
-- Per outcome: $1 ids bigint[], $2 versions int[], $3 kinds smallint[] (0 accepted, 1 throttled,
-- 2 rejected, 3 unknown, 4 not started), $4 reasons smallint[], $5 provider ids text[],
-- $6 diagnostics text[], $7 start of the call in microseconds since 1970 bigint[], $8 the
-- provider's Retry-After in microseconds bigint[], $12 which go back to wait for a backoff of their
-- own bool[]. Then $9 first and $10 longest backoff in microseconds, $11 writer.
-- What goes back keeps "refused together with others" (27) until it has an outcome of its own.
-- Locks: streams FOR SHARE in id order, but only those where a late outcome would open a message
-- again (a finished campaign stays finished, its message unknown); messages in id order; counters
-- and curve in stream order. Index: message_states_pkey.
WITH given AS MATERIALIZED (
  SELECT *
    FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::smallint[], $5::text[], $6::text[],
                $7::bigint[], $8::bigint[], $12::bool[])
         AS g(id, version, kind, reason, provider_id, diagnostic, started_us, retry_us, waits)
), reopening AS MATERIALIZED (
  SELECT s.id
    FROM streams s
   WHERE s.state <> 'finished'
     AND s.id = ANY (ARRAY(SELECT m.stream
                             FROM given g
                             JOIN message_states m ON m.id = g.id AND m.version = g.version
                            WHERE g.kind IN (1, 4) AND m.status IS NOT DISTINCT FROM 2::smallint))
   ORDER BY s.id
     FOR SHARE OF s
), locked AS MATERIALIZED (
  SELECT g.*, m.status AS old_status
    FROM given g
    JOIN message_states m ON m.id = g.id AND m.version = g.version
   WHERE m.status IS NOT DISTINCT FROM 1::smallint
      OR (m.status IS NOT DISTINCT FROM 2::smallint
          AND (g.kind IN (0, 2)
               OR (g.kind IN (1, 4) AND m.stream = ANY (ARRAY(SELECT id FROM reopening)))))
   ORDER BY m.id
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = CASE l.kind WHEN 0 THEN 3 WHEN 2 THEN 8 WHEN 3 THEN 2 ELSE 0 END,
         version = t.version + CASE WHEN l.kind IN (1, 4) THEN 1 ELSE 0 END,
         throttles = least(t.throttles + l.waits::int, 32000),
         due_at = CASE WHEN l.waits
                       THEN clock_timestamp() + interval '1 microsecond'
                            * greatest(least($9::bigint * power(2, least(t.throttles, 30)),
                                             $10::bigint), l.retry_us)
                       WHEN l.kind = 4 THEN clock_timestamp()
                       ELSE t.due_at END,
         changed_at = clock_timestamp(),
         started_at = CASE WHEN l.started_us IS NULL THEN t.started_at
                      ELSE 'epoch'::timestamptz + l.started_us * interval '1 microsecond' END,
         reason = CASE WHEN l.kind IN (1, 4) AND t.reason = 27 THEN 27 ELSE l.reason END,
         provider_id = coalesce(l.provider_id, t.provider_id),
         diagnostic = l.diagnostic
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.stream, l.kind, l.waits, l.old_status, l.started_us
), deltas AS MATERIALIZED (
  SELECT stream, count(*) AS changed,
         count(*) FILTER (WHERE kind IN (1, 4)) - count(*) FILTER (WHERE old_status = 1) AS open,
         count(*) FILTER (WHERE kind = 3) - count(*) FILTER (WHERE old_status = 2) AS unknown,
         count(*) FILTER (WHERE kind = 0) AS accepted,
         count(*) FILTER (WHERE kind = 2) AS rejected,
         count(*) FILTER (WHERE waits) AS throttled,
         'epoch'::timestamptz + min(started_us) * interval '1 microsecond' AS first_start,
         'epoch'::timestamptz + max(started_us) * interval '1 microsecond' AS last_start
    FROM changed
   GROUP BY stream
), counted AS (
  INSERT INTO counters AS c (stream, writer, open, unknown, accepted, rejected, throttled,
                             first_start, last_start, last_record)
  SELECT stream, $11::int, open, unknown, accepted, rejected, throttled, first_start, last_start,
         clock_timestamp()
    FROM deltas ORDER BY stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = c.open + excluded.open, unknown = c.unknown + excluded.unknown,
         accepted = c.accepted + excluded.accepted, rejected = c.rejected + excluded.rejected,
         throttled = c.throttled + excluded.throttled,
         first_start = least(c.first_start, excluded.first_start),
         last_start = greatest(c.last_start, excluded.last_start),
         last_record = greatest(c.last_record, excluded.last_record)
  RETURNING 1
), drawn AS (
  INSERT INTO dispatch_curve AS d (stream, second, writer, starts)
  SELECT stream, started_us / 1000000, $11::int, count(*)
    FROM changed
   WHERE started_us IS NOT NULL AND (SELECT count(*) FROM counted) >= 0
   GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (stream, second, writer) DO UPDATE SET starts = d.starts + excluded.starts
)
SELECT d.stream, d.changed,
       (d.open + coalesce((SELECT sum(c.open) FROM counters c
                            WHERE c.stream = d.stream), 0))::bigint AS open_left
  FROM deltas d
 ORDER BY d.stream;

-- name: sweep_interrupted
-- $1 least age in microseconds, $2 limit, $3 writer.
-- `left_over` reads without locks and scans the table, but only while an epoch is lost; `locked`
-- asks again under the row's lock, so that a fresh claim or a finished message stays. An epoch goes
-- once this statement's snapshot holds nothing of it: nobody can claim under it any more.
-- Locks: messages in id order, then counters. Index of `locked`: message_states_pkey.
WITH ended AS MATERIALIZED (
  SELECT l.epoch
    FROM lost_epochs l
   WHERE NOT EXISTS (SELECT FROM shards s WHERE s.epoch = l.epoch AND s.owner IS NOT NULL)
), left_over AS MATERIALIZED (
  SELECT m.id, m.epoch, m.changed_at
    FROM message_states m
   WHERE (SELECT count(*) FROM ended) > 0
     AND m.epoch = ANY (ARRAY(SELECT epoch FROM ended))
     AND m.status IS NOT DISTINCT FROM 1::smallint
), old AS MATERIALIZED (
  SELECT id, epoch
    FROM left_over
   WHERE changed_at < clock_timestamp() - $1::bigint * interval '1 microsecond'
   ORDER BY id
   LIMIT $2::int
), locked AS MATERIALIZED (
  SELECT m.id
    FROM old o
    JOIN message_states m ON m.id = o.id AND m.epoch = o.epoch
   WHERE m.status IS NOT DISTINCT FROM 1::smallint
   ORDER BY m.id
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = 2, reason = 1, changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.stream
), deltas AS MATERIALIZED (
  SELECT stream, count(*) AS changed FROM changed GROUP BY stream
), counted AS (
  INSERT INTO counters AS c (stream, writer, open, unknown, last_record)
  SELECT stream, $3::int, -changed, changed, clock_timestamp() FROM deltas ORDER BY stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = c.open + excluded.open, unknown = c.unknown + excluded.unknown,
         last_record = greatest(c.last_record, excluded.last_record)
), forgotten AS (
  DELETE FROM lost_epochs l
   USING ended e
   WHERE l.epoch = e.epoch AND l.epoch <> ALL (ARRAY(SELECT epoch FROM left_over))
)
SELECT d.stream, d.changed,
       (coalesce((SELECT sum(c.open) FROM counters c
                   WHERE c.stream = d.stream), 0) - d.changed)::bigint AS open_left
  FROM deltas d
 ORDER BY d.stream;
