-- Taking messages in. Whatever belongs to a call is given once per call, and what messages need of
-- it is looked up by subscript, which costs the same whichever call it is.

-- name: take_in
-- Per call: $1 projects bigint[], $2 keys bigint[] (0: none), $3 environments text[], $4 routes
-- int[], $5 streams bigint[], $6 numbers of messages int[], $7 idempotency keys text[] (NULL:
-- none), $8 hashes of bodies bytea[], $9 statuses smallint[], $10 responses text[], $30 first
-- contents bigint[] (0: none).
-- Per content: $11 ids bigint[], $12 calls int[] (from 1 on), $13 hashes bytea[], $14 senders,
-- $15 subjects, $16 texts, $17 HTML, $18 headers, all text[]; $31 missing smallint[] (0) and $32
-- defaults text[] ({}), where NULL and an empty array stand for the value in brackets.
-- Per attachment: $33 contents bigint[], $34 calls int[], $35 positions smallint[], $36 names, $37
-- media types, $38 content ids, all text[], $39 data bytea[].
-- Per message: $19 ids bigint[], $22 recipients text[] (one address, or an array literal of
-- several). Then columns in which NULL stands for what most messages have, and an empty array for
-- nothing but NULLs: $20 calls int[] (the first), $21 contents bigint[] (the call's first), $23
-- costs smallint[] (1), $24 fields, $25 tags, $26 addresses, all text[] of JSON, $27 messages they
-- are sent again for bigint[], $28 due and $29 expiring in microseconds since 1970 bigint[].
-- One row per call: whether its API key is live, and whether it was stored.
-- Locks: keys FOR KEY SHARE in id order; advisory transaction locks on idempotency keys, never
-- waited for; counters in stream order. Index: api_keys_pkey, idempotency_keys_pkey.
WITH calls AS MATERIALIZED (
  SELECT c.*
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $5::bigint[], $6::int[], $7::text[],
                $8::bytea[], $9::smallint[], $10::text[]) WITH ORDINALITY
         AS c(project, key, environment, stream, size, once, body_hash, status, response, number)
), keys AS MATERIALIZED (
  SELECT k.id
    FROM api_keys k
   WHERE k.id = ANY ($2::bigint[])
     AND k.revoked_at IS NOT DISTINCT FROM NULL::timestamptz -- not by api_keys_named
     AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
   ORDER BY k.id
     FOR KEY SHARE OF k
), guarded AS MATERIALIZED (
  SELECT c.*, a.live,
         CASE WHEN NOT a.live THEN false
              WHEN c.once IS NULL THEN true
              ELSE pg_try_advisory_xact_lock(
                     hashtextextended(c.project || ' ' || c.environment || ' ' || c.once, 0))
         END AS ours
    FROM calls c
   CROSS JOIN LATERAL (SELECT c.key = 0 OR c.key = ANY (ARRAY(SELECT id FROM keys)) AS live) a
), noted AS (
  INSERT INTO idempotency_keys (project, environment, key, body_hash, status, response)
  SELECT g.project, g.environment, g.once, g.body_hash, g.status, g.response
    FROM guarded g
   WHERE g.ours AND g.once IS NOT NULL
  ON CONFLICT DO NOTHING
  RETURNING project, environment, key
), verdicts AS MATERIALIZED (
  SELECT g.number, g.stream, g.size, g.live,
         CASE WHEN g.once IS NULL THEN g.ours
              ELSE (g.project, g.environment, g.once)
                   IN (SELECT n.project, n.environment, n.key FROM noted n) END AS stored
    FROM guarded g
), stored AS MATERIALIZED (
  SELECT array_agg(v.stored ORDER BY v.number) AS by_call FROM verdicts v
), new_contents AS (
  INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body, headers, missing,
                        defaults)
  SELECT c.id, ($1::bigint[])[c.call], c.hash, c.sender, c.subject, c.text_body, c.html_body,
         c.headers::json, coalesce(c.missing, 0::smallint), coalesce(c.defaults, '{}')::json
    FROM unnest($11::bigint[], $12::int[], $13::bytea[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::text[], $31::smallint[], $32::text[])
         AS c(id, call, hash, sender, subject, text_body, html_body, headers, missing, defaults)
   WHERE (SELECT by_call FROM stored)[c.call]
), new_attachments AS (
  INSERT INTO content_attachments (content, position, name, media_type, content_id, data)
  SELECT a.content, a.position, a.name, a.media_type, a.content_id, a.data
    FROM unnest($33::bigint[], $34::int[], $35::smallint[], $36::text[], $37::text[], $38::text[],
                $39::bytea[])
         AS a(content, call, position, name, media_type, content_id, data)
   WHERE (SELECT by_call FROM stored)[a.call]
), new_messages AS (
  INSERT INTO messages (id, project, key, stream, content, ordinal, resend_of, recipients, fields,
                        tags, addresses)
  SELECT m.id, ($1::bigint[])[coalesce(m.call, 1)], ($2::bigint[])[coalesce(m.call, 1)],
         ($5::bigint[])[coalesce(m.call, 1)],
         coalesce(m.content, ($30::bigint[])[coalesce(m.call, 1)]), 0, m.resend_of,
         CASE WHEN m.cost IS NULL THEN ARRAY[m.recipients] ELSE m.recipients::text[] END,
         coalesce(m.fields, '{}')::json, m.tags::json, m.addresses::json
    FROM unnest($19::bigint[], $20::int[], $21::bigint[], $22::text[], $23::smallint[],
                $24::text[], $25::text[], $26::text[], $27::bigint[])
         AS m(id, call, content, recipients, cost, fields, tags, addresses, resend_of)
   WHERE (SELECT by_call FROM stored)[coalesce(m.call, 1)]
), new_states AS (
  INSERT INTO message_states (id, stream, route, due_at, changed_at, expires_at, bucket, status,
                              cost)
  SELECT m.id, ($5::bigint[])[coalesce(m.call, 1)], ($4::int[])[coalesce(m.call, 1)],
         greatest('epoch'::timestamptz + m.due_us * interval '1 microsecond', t.now), t.now,
         'epoch'::timestamptz + m.expires_us * interval '1 microsecond',
         hashint8(m.id) & 1023, 0, coalesce(m.cost, 1::smallint)
    FROM unnest($19::bigint[], $20::int[], $23::smallint[], $28::bigint[], $29::bigint[])
         AS m(id, call, cost, due_us, expires_us)
   CROSS JOIN (SELECT clock_timestamp() AS now OFFSET 0) t
   WHERE (SELECT by_call FROM stored)[coalesce(m.call, 1)]
), counted AS (
  INSERT INTO counters AS k (stream, writer, total, open)
  SELECT v.stream, -1 - pg_backend_pid() % 16, sum(v.size), sum(v.size)
    FROM verdicts v
   WHERE v.stored
   GROUP BY v.stream
   ORDER BY v.stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET total = k.total + excluded.total, open = k.open + excluded.open
)
SELECT v.live, v.stored FROM verdicts v ORDER BY v.number;

-- name: find_taken
-- Per call: $1 its first message bigint[], $2 that message's content bigint[]. Which are stored.
-- Locks nothing. Index: messages_pkey.
SELECT m.id IS NOT NULL AS stored
  FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS w(id, content, number)
  LEFT JOIN messages m ON m.id = w.id AND m.content = w.content
 ORDER BY w.number;

-- name: find_answers
-- $1 projects bigint[], $2 environments text[], $3 idempotency keys text[], $4 hashes bytea[].
-- After the statement that could not note them, so that this snapshot sees who was first. Nothing
-- where he has not committed yet. Locks nothing. Index: idempotency_keys_pkey.
SELECT i.body_hash = w.body_hash AS same, i.status, i.response
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[]) WITH ORDINALITY
       AS w(project, environment, key, body_hash, number)
  LEFT JOIN idempotency_keys i
         ON i.project = w.project AND i.environment = w.environment AND i.key = w.key
 ORDER BY w.number;

-- name: note_answer
-- $1 project, $2 environment, $3 idempotency key, $4 hash of the body, $5 status, $6 response.
-- No row where somebody is, or was, first. Locks: as take_in.
WITH guard AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(
           hashtextextended($1::bigint || ' ' || $2::text || ' ' || $3::text, 0)) AS ours
)
INSERT INTO idempotency_keys (project, environment, key, body_hash, status, response)
SELECT $1::bigint, $2::text, $3::text, $4::bytea, $5::smallint, $6::text FROM guard WHERE ours
ON CONFLICT DO NOTHING
RETURNING 1;

-- name: forget_answers
-- $1 limit. Locks: the rows it deletes. Index: idempotency_keys_age.
WITH deleted AS (
  DELETE FROM idempotency_keys
   WHERE ctid = ANY (ARRAY(SELECT i.ctid
                             FROM idempotency_keys i
                            WHERE i.created_at < (SELECT clock_timestamp() - interval '7 days')
                            ORDER BY i.created_at
                            LIMIT $1::int))
  RETURNING 1
)
SELECT count(*) FROM deleted;

-- name: database_time
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
