-- Reserve, claim, settle. `status = 0` is spelt plainly only where the due index is wanted; every
-- other guard says IS NOT DISTINCT FROM, so that no partial index can be chosen for it.

-- name: reserve_due
-- Per source: $1 streams bigint[], $2 due of the cursor in microseconds since 1970 bigint[] (NULL:
-- from the beginning), $3 id of the cursor bigint[], $4 limits int[], $6 which shard's part int[].
-- $5 shards of the route.
-- Locks nothing. Index: message_states_due, one range per source; the subselect makes "now" an
-- index bound. No time before 1970 is a due time of ours, and -infinity is no number.
SELECT s.source, p.id, p.version,
       (extract(epoch FROM greatest(p.due_at, 'epoch'::timestamptz)) * 1000000)::bigint AS due_us,
       p.cost, p.throttles, m.project, m.key, m.content, m.recipients, m.fields, m.tags,
       m.addresses, p.reason = 27 AS alone
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $6::int[])
       WITH ORDINALITY AS s(stream, due_us, id, page, part, source)
 CROSS JOIN LATERAL (
       SELECT t.id, t.version, t.due_at, t.cost, t.throttles, t.reason
         FROM message_states t
        WHERE t.stream = s.stream AND t.status = 0
          AND t.due_at <= (SELECT clock_timestamp())
          AND (t.due_at, t.id)
              > (coalesce('epoch'::timestamptz + s.due_us * interval '1 microsecond',
                          '-infinity'), s.id)
          AND t.bucket % $5::int = s.part
        ORDER BY t.due_at, t.id
        LIMIT s.page) p
  JOIN messages m ON m.id = p.id
 ORDER BY s.source, p.due_at, p.id;

-- name: claim_group
-- $1 shard, $2 epoch, $3 group number, $4 gate in ns, $5 streams bigint[], $6 ids bigint[],
-- $7 versions int[]; flattened over all recipients: $8 message bigint[], $9 project bigint[],
-- $10 address text[]; $11 API keys bigint[], each once, without 0; $12 the key of each id bigint[]
-- (0: none); $13 the stream of each address bigint[].
-- No row: not the owner any more, or a newer group was there. Otherwise one row, with arrays.
-- Locks: the shard's row (the fence: whoever takes over waits for us, or we for him), keys FOR KEY
-- SHARE and then streams FOR SHARE in id order, messages in id order, skipping what others hold.
-- Index: message_states_pkey. A key that has merely expired does not stop what it has queued.
-- A wholly suppressed message is not picked; who has unsubscribed still gets direct mail. A row of
-- this very group is picked again: the repeat of a claim in doubt; it may start only if a fresh
-- claim would have been granted.
WITH fence AS (
  UPDATE shards SET group_no = $3::int, last_slot_ns = greatest(last_slot_ns, $4::bigint)
   WHERE id = $1::int AND epoch = $2::bigint AND owner IS NOT NULL AND group_no <= $3::int
  RETURNING route
), keys AS MATERIALIZED (
  SELECT k.id
    FROM api_keys k
   WHERE (SELECT count(*) FROM fence) = 1 AND k.id = ANY ($11::bigint[])
     AND k.revoked_at IS NOT DISTINCT FROM NULL::timestamptz -- not by api_keys_named
   ORDER BY k.id
     FOR KEY SHARE OF k
), live AS MATERIALIZED (
  SELECT s.id, s.kind
    FROM streams s
   WHERE (SELECT count(*) FROM fence) = 1
     AND (SELECT count(*) FROM keys) >= 0 -- for the order: the keys are locked by now
     AND s.id = ANY ($5::bigint[]) AND s.state = 'running'
   ORDER BY s.id
     FOR SHARE OF s
), asked AS MATERIALIZED (
  SELECT a.id, a.address, x.found
    FROM unnest($8::bigint[], $9::bigint[], $10::text[], $13::bigint[])
         AS a(id, project, address, stream)
    LEFT JOIN LATERAL (
         SELECT true AS found
           FROM suppressions u
          WHERE u.project = a.project AND u.address = a.address
            AND (u.reason <> 'unsubscribe'
                 OR a.stream = ANY (ARRAY(SELECT id FROM live WHERE kind = 'campaign')))
            AND u.environment = (SELECT r.environment FROM routes r JOIN fence f ON f.route = r.id)
          LIMIT 1) x ON true
), gone AS MATERIALIZED (
  SELECT id FROM asked GROUP BY id HAVING count(*) = count(found)
), pick AS MATERIALIZED (
  SELECT m.id,
         l.id IS NOT NULL AND m.id <> ALL (ARRAY(SELECT id FROM gone))
         AND (w.key = 0 OR w.key = ANY (ARRAY(SELECT id FROM keys)))
         AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()) AS may_start
    FROM unnest($6::bigint[], $7::int[], $12::bigint[]) AS w(id, version, key)
    JOIN message_states m ON m.id = w.id AND m.version = w.version
    LEFT JOIN live l ON l.id = m.stream
   WHERE (SELECT count(*) FROM fence) = 1
     AND ((m.status IS NOT DISTINCT FROM 0::smallint AND l.id IS NOT NULL
           AND m.id <> ALL (ARRAY(SELECT id FROM gone))
           AND (w.key = 0 OR w.key = ANY (ARRAY(SELECT id FROM keys)))
           AND (m.expires_at IS NULL OR m.expires_at > clock_timestamp()))
          OR (m.status IS NOT DISTINCT FROM 1::smallint
              AND m.epoch = $2::bigint AND m.group_no = $3::int))
   ORDER BY m.id
     FOR UPDATE OF m SKIP LOCKED
), claimed AS (
  UPDATE message_states t
     SET status = 1, epoch = $2::bigint, group_no = $3::int, changed_at = clock_timestamp()
    FROM pick p
   WHERE t.id = p.id
  RETURNING t.id, p.may_start
)
SELECT v.*, c.ids, c.may_start, b.ids AS blocked_ids, b.addresses AS blocked_addresses
  FROM fence f
  JOIN route_readings v ON v.id = f.route
 CROSS JOIN (SELECT array_agg(id) AS ids, array_agg(may_start) AS may_start FROM claimed) c
 CROSS JOIN (SELECT array_agg(id) AS ids, array_agg(address) AS addresses FROM asked WHERE found) b;

-- name: settle_skipped
-- $1 ids bigint[], $2 versions int[], $3 writer.
-- Locks: messages in id order, skipping held ones (whoever holds them decides), then counters.
-- Index: message_states_pkey. A canceled stream and a revoked key never come back, so that their
-- rows need no lock.
WITH locked AS MATERIALIZED (
  SELECT m.id, m.stream, m.route, m.expires_at
    FROM unnest($1::bigint[], $2::int[]) AS w(id, version)
    JOIN message_states m ON m.id = w.id AND m.version = w.version
   WHERE m.status IS NOT DISTINCT FROM 0::smallint
   ORDER BY m.id
     FOR UPDATE OF m SKIP LOCKED
), verdict AS MATERIALIZED (
  SELECT l.id, l.stream,
         CASE WHEN s.state = 'canceled' THEN 14
              WHEN k.is_revoked THEN 20
              WHEN l.expires_at <= clock_timestamp() THEN 15
              WHEN NOT EXISTS (
                   SELECT FROM unnest(g.recipients) AS a(address)
                    WHERE NOT EXISTS (SELECT FROM suppressions u
                                       WHERE u.project = g.project AND u.environment = r.environment
                                         AND u.address = a.address
                                         AND (u.reason <> 'unsubscribe' OR s.kind = 'campaign')))
              THEN 13 END AS reason
    FROM locked l
    JOIN streams s ON s.id = l.stream
    JOIN routes r ON r.id = l.route
    JOIN messages g ON g.id = l.id
   CROSS JOIN LATERAL (
         SELECT g.key <> 0
                AND NOT EXISTS (SELECT FROM api_keys k
                                 WHERE k.id = g.key AND k.revoked_at IS NULL) AS is_revoked) k
), changed AS (
  UPDATE message_states t
     SET status = CASE v.reason WHEN 15 THEN 12 WHEN 13 THEN 10 ELSE 11 END, reason = v.reason,
         changed_at = clock_timestamp()
    FROM verdict v
   WHERE t.id = v.id AND v.reason IS NOT NULL
  RETURNING t.stream, t.status
), counted AS (
  INSERT INTO counters AS c (stream, writer, open, suppressed, canceled, expired)
  SELECT stream, $3::int, -count(*), count(*) FILTER (WHERE status = 10),
         count(*) FILTER (WHERE status = 11), count(*) FILTER (WHERE status = 12)
    FROM changed GROUP BY stream ORDER BY stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = c.open + excluded.open, suppressed = c.suppressed + excluded.suppressed,
         canceled = c.canceled + excluded.canceled, expired = c.expired + excluded.expired
)
SELECT count(*) FROM changed;

-- name: reject_unsent
-- $1 ids bigint[], $2 versions int[], $3 statuses smallint[] (8 or 9), $4 reasons smallint[],
-- $5 diagnostics text[], $6 writer.
-- Locks: messages in id order, then counters. Index: message_states_pkey.
WITH locked AS MATERIALIZED (
  SELECT m.id, w.status, w.reason, w.diagnostic
    FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::smallint[], $5::text[])
         AS w(id, version, status, reason, diagnostic)
    JOIN message_states m ON m.id = w.id AND m.version = w.version
   WHERE m.status IS NOT DISTINCT FROM 0::smallint
   ORDER BY m.id
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = l.status, reason = l.reason, diagnostic = l.diagnostic,
         changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.stream
), counted AS (
  INSERT INTO counters AS c (stream, writer, open, rejected)
  SELECT stream, $6::int, -count(*), count(*) FROM changed GROUP BY stream ORDER BY stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = c.open + excluded.open, rejected = c.rejected + excluded.rejected
)
SELECT count(*) FROM changed;

-- name: postpone
-- $1 ids bigint[], $2 versions int[], $3 delay in microseconds.
-- Locks: messages in id order. Index: message_states_pkey.
WITH locked AS MATERIALIZED (
  SELECT m.id
    FROM unnest($1::bigint[], $2::int[]) AS w(id, version)
    JOIN message_states m ON m.id = w.id AND m.version = w.version
   WHERE m.status IS NOT DISTINCT FROM 0::smallint
   ORDER BY m.id
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET due_at = clock_timestamp() + $3::bigint * interval '1 microsecond',
         changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING 1
)
SELECT count(*) FROM changed;
