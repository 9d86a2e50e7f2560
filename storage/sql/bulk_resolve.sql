-- Resolving what is unknown, page by page. Pages are looked for without locks and locked by what
-- changes them: whoever comes second finds other states and changes nothing.

-- name: unknown_page
-- $1 campaign, $2 after this id, $3 microseconds. Locks nothing. Index: message_states_pkey, the
-- range of the campaign's ids, in which other messages may lie. next: where the page ends; NULL
-- at the end of the range.
WITH range AS MATERIALIZED (
  SELECT first_message, last_message FROM campaigns WHERE id = $1::bigint
), looked AS MATERIALIZED (
  SELECT t.id, t.stream, t.status, t.changed_at
    FROM message_states t
   WHERE t.id > $2::bigint AND t.id >= (SELECT first_message FROM range)
     AND t.id <= (SELECT last_message FROM range)
   ORDER BY t.id
   LIMIT 20000
), wanted AS MATERIALIZED (
  SELECT l.id
    FROM looked l
   WHERE l.stream = $1::bigint AND l.status = 2::smallint
     AND l.changed_at < clock_timestamp() - $3::bigint * interval '1 microsecond'
   ORDER BY l.id
   LIMIT 1000
)
SELECT count(*) AS messages, coalesce(array_agg(w.id ORDER BY w.id), '{}') AS ids,
       CASE WHEN count(*) = 1000 THEN max(w.id) ELSE (SELECT max(id) FROM looked) END AS next
  FROM wanted w;

-- name: stream_origin
-- $1 stream. Primary key.
SELECT route, project, priority FROM streams WHERE id = $1::bigint;

-- name: close_unknown_page
-- $1 ids bigint[], $2 microseconds, $3 status (3 accepted, 8 rejected), $4 writer.
-- Locks: messages in id order, then counters. Index: message_states_pkey. A row that became
-- unknown anew since it was looked at is too young.
WITH locked AS MATERIALIZED (
  SELECT m.id
    FROM unnest($1::bigint[]) AS w(id)
    JOIN message_states m ON m.id = w.id
   WHERE m.status IS NOT DISTINCT FROM 2::smallint
     AND m.changed_at < clock_timestamp() - $2::bigint * interval '1 microsecond'
   ORDER BY m.id
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = $3::smallint, reason = 18, changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.id, t.stream
), counted AS (
  INSERT INTO counters AS c (stream, writer, unknown, accepted, rejected)
  SELECT stream, $4::int, -count(*), CASE WHEN $3::smallint = 3 THEN count(*) ELSE 0 END,
         CASE WHEN $3::smallint = 8 THEN count(*) ELSE 0 END
    FROM changed GROUP BY stream ORDER BY stream
  ON CONFLICT (stream, writer) DO UPDATE
     SET unknown = c.unknown + excluded.unknown, accepted = c.accepted + excluded.accepted,
         rejected = c.rejected + excluded.rejected
)
SELECT coalesce(array_agg(id ORDER BY id), '{}') AS ids FROM changed;

-- name: send_again_page
-- $1 old ids bigint[], $2 fresh ids bigint[], $3 stream of direct mail, $4 route. In the
-- transaction that closed the old ones. Locks: counters.
WITH message AS (
  INSERT INTO messages (id, project, stream, content, ordinal, recipients, fields, resend_of, tags,
                        addresses)
  SELECT p.fresh, m.project, $3::bigint, m.content, 0, m.recipients, m.fields, p.old, m.tags,
         m.addresses
    FROM unnest($1::bigint[], $2::bigint[]) AS p(old, fresh)
    JOIN messages m ON m.id = p.old
   ORDER BY p.fresh
  RETURNING id, cardinality(recipients) AS cost
), state AS (
  INSERT INTO message_states (id, stream, route, due_at, changed_at, bucket, status, cost)
  SELECT id, $3::bigint, $4::int, clock_timestamp(), clock_timestamp(), hashint8(id) & 1023, 0, cost
    FROM message
  RETURNING 1
), added AS MATERIALIZED (
  SELECT count(*) AS n FROM state
)
INSERT INTO counters AS c (stream, writer, total, open)
SELECT $3::bigint, -1 - pg_backend_pid() % 16, n, n FROM added WHERE n > 0
ON CONFLICT (stream, writer) DO UPDATE SET total = c.total + excluded.total,
                                           open = c.open + excluded.open;

-- name: note_resolve_run
-- $1 actor, $2 subject, $3 detail json, $4 the run's row, or 0 for its first page. The one audit
-- row of a run grows with its pages, so that it is right wherever the run is killed.
WITH grown AS (
  UPDATE audit_log SET detail = $3::json WHERE id = $4::bigint RETURNING id
), added AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT $1::text, 'messages.resolve', $2::text, $3::json WHERE $4::bigint = 0
  RETURNING id
)
SELECT id FROM grown UNION ALL SELECT id FROM added;
