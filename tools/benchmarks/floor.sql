-- The floor that `drain` is measured against: the least durable work that a system of this shape
-- has to do for a message. Per group of 100 one read of what is due with all that is needed to
-- send it, one claim by id, one record by id; no counters, curve, suppressions, streams, owners,
-- epochs or fences. Frozen: it changes only together with every figure that was ever compared with
-- it. It has its own copy of the two tables and of the due index, so that it stays the same when
-- the migrations go on.

-- name: floor_tables
CREATE TABLE contents (
  id         bigint PRIMARY KEY,
  sender     text NOT NULL,
  subject    text NOT NULL,
  text_body  text NOT NULL,
  html_body  text NOT NULL
);
CREATE TABLE messages (
  id          bigint PRIMARY KEY,
  project     bigint NOT NULL,
  stream      bigint NOT NULL,
  content     bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  ordinal     int NOT NULL,
  recipients  text[] NOT NULL,
  fields      json NOT NULL DEFAULT '{}'
);
CREATE TABLE message_states (
  id           bigint PRIMARY KEY,
  stream       bigint NOT NULL,
  epoch        bigint NOT NULL DEFAULT 0,
  due_at       timestamptz NOT NULL,
  changed_at   timestamptz NOT NULL,
  expires_at   timestamptz,
  started_at   timestamptz,
  route        int NOT NULL,
  version      int NOT NULL DEFAULT 0,
  group_no     int NOT NULL DEFAULT 0,
  bucket       smallint NOT NULL,
  status       smallint NOT NULL,
  cost         smallint NOT NULL,
  throttles    smallint NOT NULL DEFAULT 0,
  reason       smallint NOT NULL DEFAULT 0,
  provider_id  text,
  diagnostic   text
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX message_states_due ON message_states (stream, due_at, id) WHERE status = 0;

-- name: floor_fill
-- %1 messages. Filled as a campaign is: the content once, pages of 2,000 due at one instant.
INSERT INTO contents VALUES (1, 'News <news@example.com>', 'News for {{name}}',
  E'Hello {{name}},\n\nthis is what happened in {{city}} this week.\n', '');
INSERT INTO messages (id, project, stream, content, ordinal, recipients, fields)
SELECT 1000000 + i, 1, 1, 1, i, ARRAY['user' || i || '@simulator.paceline.test'],
       json_build_object('name', 'Name ' || i, 'city', 'City ' || i % 100)
  FROM generate_series(1, %1) i;
INSERT INTO message_states (id, stream, route, due_at, changed_at, bucket, status, cost)
SELECT 1000000 + i, 1, 1, now() + i / 2000 * interval '1 millisecond', now(), i % 1024, 0, 1
  FROM generate_series(1, %1) i;
ANALYZE;

-- name: floor_reserve
-- $1 due of the cursor, $2 id of the cursor, $3 connections, $4 own index, $5 group.
SELECT t.id, t.version, t.due_at, m.recipients, m.fields, c.sender, c.subject, c.text_body,
       c.html_body
  FROM (SELECT s.id, s.version, s.due_at
          FROM message_states s
         WHERE s.stream = 1 AND s.status = 0 AND (s.due_at, s.id) > ($1::timestamptz, $2::bigint)
           AND s.bucket % $3::int = $4::int
         ORDER BY s.due_at, s.id
         LIMIT $5::int) t
  JOIN messages m ON m.id = t.id
  JOIN contents c ON c.id = m.content
 ORDER BY t.due_at, t.id;

-- name: floor_claim
-- $1 ids. `IS NOT DISTINCT FROM`, so that the primary key is used and no partial index.
UPDATE message_states t
   SET status = 1, epoch = 1, group_no = 1, changed_at = clock_timestamp()
  FROM unnest($1::bigint[]) AS g(id)
 WHERE t.id = g.id AND t.status IS NOT DISTINCT FROM 0::smallint
RETURNING t.id, t.version;

-- name: floor_record
-- $1 ids, $2 provider ids.
UPDATE message_states t
   SET status = 3, provider_id = g.provider_id, started_at = clock_timestamp(),
       changed_at = clock_timestamp()
  FROM unnest($1::bigint[], $2::text[]) AS g(id, provider_id)
 WHERE t.id = g.id AND t.status IS NOT DISTINCT FROM 1::smallint;

-- The floors of taking messages in, on Paceline's own migrated tables: the rows that a message is,
-- its content and its count, and the commit. No key, no idempotency, no limits.

-- name: floor_stream
INSERT INTO streams (id, project, route, kind, priority)
SELECT 1, 1, id, 'direct', 50 FROM routes LIMIT 1;

-- name: floor_take_one
-- $1 id of message and content, $2 recipient, $3 subject, $4 text.
WITH content AS (
  INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body)
  VALUES ($1::bigint, 1, sha256($4::bytea), 'News <news@example.com>', $3::text, $4::text, '')
), message AS (
  INSERT INTO messages (id, project, stream, content, ordinal, recipients)
  VALUES ($1::bigint, 1, 1, $1::bigint, 0, ARRAY[$2::text])
), state AS (
  INSERT INTO message_states (id, stream, route, due_at, changed_at, bucket, status, cost)
  VALUES ($1::bigint, 1, 1, clock_timestamp(), clock_timestamp(), hashint8($1::bigint) & 1023, 0, 1)
)
INSERT INTO counters AS c (stream, writer, total, open)
VALUES (1, -1 - pg_backend_pid() % 16, 1, 1)
ON CONFLICT (stream, writer) DO UPDATE SET total = c.total + 1, open = c.open + 1;

-- name: floor_take_many
-- $1 content, $2 ids bigint[], $3 recipients text[], $4 fields text[].
WITH content AS (
  INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body)
  VALUES ($1::bigint, 1, sha256('floor'), 'News <news@example.com>', 'News for {{name}}',
          E'Hello {{name}},\n\nthis is what happened in {{city}} this week.\n', '')
), message AS (
  INSERT INTO messages (id, project, stream, content, ordinal, recipients, fields)
  SELECT g.id, 1, 1, $1::bigint, 0, ARRAY[g.recipient], g.fields::json
    FROM unnest($2::bigint[], $3::text[], $4::text[]) AS g(id, recipient, fields)
), state AS (
  INSERT INTO message_states (id, stream, route, due_at, changed_at, bucket, status, cost)
  SELECT id, 1, 1, clock_timestamp(), clock_timestamp(), hashint8(id) & 1023, 0, 1
    FROM unnest($2::bigint[]) AS g(id)
)
INSERT INTO counters AS c (stream, writer, total, open)
VALUES (1, -1 - pg_backend_pid() % 16, cardinality($2::bigint[]), cardinality($2::bigint[]))
ON CONFLICT (stream, writer) DO UPDATE
   SET total = c.total + excluded.total, open = c.open + excluded.open;
