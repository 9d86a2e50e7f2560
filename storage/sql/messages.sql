-- Messages as people and APIs see them. How they are taken in is in intake.sql.

-- name: find_messages
-- $1 least id, $2 id above the greatest, $3 campaign or NULL, $4 status or NULL, $5 recipient or
-- NULL, $6 project or NULL, $7 environment or NULL, $8 limit, $9 how many to examine at most.
-- Locks nothing. Index: messages_pkey backwards, for a campaign only its own range, in which other
-- messages may lie. A message without a state row has not been expanded yet. Without a fitting row
-- there is one of NULLs that says how far was looked.
WITH examined AS MATERIALIZED (
  SELECT m.id
    FROM messages m
   WHERE m.id >= greatest($1::bigint,
                          (SELECT p.first_message FROM campaigns p WHERE p.id = $3::bigint))
     AND m.id < least($2::bigint,
                      (SELECT p.last_message + 1 FROM campaigns p WHERE p.id = $3::bigint))
   ORDER BY m.id DESC
   LIMIT $9::int
), range AS MATERIALIZED (
  SELECT count(*) AS examined, min(id) AS least, max(id) AS greatest FROM examined
), found AS (
  SELECT m.id, m.project, m.key, m.stream, r.environment || ':' || r.region AS route, n.status,
         coalesce(t.reason, 0) AS reason, coalesce(t.version, 0) AS version,
         coalesce(t.throttles, 0) AS throttles, m.recipients, c.subject, m.tags, m.addresses,
         t.provider_id, t.diagnostic,
         to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at,
         to_char(t.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS due_at,
         to_char(t.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS changed_at,
         to_char(t.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS started_at,
         to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS expires_at
    FROM messages m
    JOIN streams s ON s.id = m.stream
    JOIN routes r ON r.id = s.route
    JOIN contents c ON c.id = m.content
    LEFT JOIN message_states t ON t.id = m.id
   CROSS JOIN LATERAL (
         SELECT coalesce(t.status, CASE s.state WHEN 'canceled' THEN 11 ELSE 0 END) AS status) n
   WHERE m.id >= (SELECT least FROM range) AND m.id <= (SELECT greatest FROM range)
     AND ($3::bigint IS NULL OR m.stream = $3::bigint)
     AND ($4::int IS NULL OR n.status = $4::int)
     AND ($5::text IS NULL OR $5::text = ANY (m.recipients))
     AND ($6::bigint IS NULL OR m.project = $6::bigint)
     AND ($7::text IS NULL OR r.environment = $7::text)
   ORDER BY m.id DESC
   LIMIT $8::int
)
SELECT f.*, g.examined, g.least AS examined_to
  FROM range g LEFT JOIN found f ON true
 ORDER BY f.id DESC;

-- name: cancel_queued
-- $1 id, $2 writer. How many were queued and are canceled now: 0 or 1.
-- Locks: the message, waiting for a claim that holds it, then counters. Index: message_states_pkey.
WITH locked AS MATERIALIZED (
  SELECT m.id
    FROM message_states m
   WHERE m.id = $1::bigint AND m.status IS NOT DISTINCT FROM 0::smallint
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = 11, reason = 19, changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.stream
), counted AS (
  INSERT INTO counters AS c (stream, writer, open, canceled)
  SELECT stream, $2::int, -1, 1 FROM changed
  ON CONFLICT (stream, writer) DO UPDATE
     SET open = c.open + excluded.open, canceled = c.canceled + excluded.canceled
)
SELECT count(*) FROM changed;

-- name: message_origin
-- $1 id. What a new message with the same content needs.
SELECT m.project, s.route, m.content, m.recipients, m.fields
  FROM messages m JOIN streams s ON s.id = m.stream
 WHERE m.id = $1::bigint;

-- name: resolve_unknown
-- $1 id, $2 status (3 accepted, 8 rejected), $3 writer. Locks: the message, then counters.
WITH locked AS MATERIALIZED (
  SELECT m.id
    FROM message_states m
   WHERE m.id = $1::bigint AND m.status IS NOT DISTINCT FROM 2::smallint
     FOR UPDATE OF m
), changed AS (
  UPDATE message_states t
     SET status = $2::smallint, reason = 18, changed_at = clock_timestamp()
    FROM locked l
   WHERE t.id = l.id
  RETURNING t.stream, t.status
), counted AS (
  INSERT INTO counters AS c (stream, writer, unknown, accepted, rejected)
  SELECT stream, $3::int, -1, CASE status WHEN 3 THEN 1 ELSE 0 END,
         CASE status WHEN 8 THEN 1 ELSE 0 END
    FROM changed
  ON CONFLICT (stream, writer) DO UPDATE
     SET unknown = c.unknown + excluded.unknown, accepted = c.accepted + excluded.accepted,
         rejected = c.rejected + excluded.rejected
)
SELECT count(*) FROM changed;
