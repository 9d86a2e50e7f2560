-- API keys and the projects they belong to. Claims and intake hold key rows FOR KEY SHARE, so that
-- a revocation (FOR UPDATE) waits for them and they for it, while notes of use pass by.

-- name: lock_project
-- $1 name. Locks: the project, against its own kind only; foreign keys pass.
SELECT id FROM projects WHERE name = $1::text FOR NO KEY UPDATE;

-- name: find_equal_key
-- $1 project, $2 environment, $3 name, $4 hash of the secret; after lock_project in the same
-- transaction. The key that an earlier try made, and how many valid ones there are.
-- Index: api_keys_named.
SELECT min(id) FILTER (WHERE secret_hash = $4::bytea) AS same,
       count(*) FILTER (WHERE expires_at IS NULL OR expires_at > clock_timestamp()) AS valid
  FROM api_keys
 WHERE project = $1::bigint AND environment = $2::text AND name = $3::text AND revoked_at IS NULL;

-- name: insert_key
-- $1 id, $2 project, $3 environment, $4 name, $5 scopes text[], $6 hash of the secret, $7 expires
-- in microseconds or NULL, $8 limit per minute or NULL.
INSERT INTO api_keys (id, project, environment, name, scopes, secret_hash, expires_at,
                      limit_per_minute)
VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::text[], $6::bytea,
        clock_timestamp() + $7::bigint * interval '1 microsecond', $8::int);

-- name: find_keys
-- $1 key or NULL, $2 project or NULL, $3 limit. Locks nothing. Index: api_keys_pkey, projects_pkey.
SELECT k.id, k.project, p.name AS project_name, k.environment, k.name, k.scopes,
       encode(k.secret_hash, 'hex') AS secret_hash,
       k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > t.now) AS is_valid,
       CASE WHEN k.expires_at > t.now
            THEN (extract(epoch FROM k.expires_at - t.now) * 1000000)::bigint END AS expires_in_us,
       k.limit_per_minute, p.sender_domains, p.max_outstanding,
       to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at,
       to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS expires_at,
       to_char(k.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS revoked_at,
       to_char(k.last_used_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_used_at
  FROM api_keys k
  JOIN projects p ON p.id = k.project
 CROSS JOIN (SELECT clock_timestamp() AS now) t
 WHERE k.id >= coalesce($1::bigint, 0) AND k.id <= coalesce($1::bigint, 9223372036854775807)
   AND ($2::bigint IS NULL OR k.project = $2::bigint)
 ORDER BY k.id
 LIMIT $3::int;

-- name: lock_key
-- $1 key. Locks: the key, waiting for claims and intake that hold it.
SELECT revoked_at IS NOT NULL AS is_revoked FROM api_keys WHERE id = $1::bigint FOR UPDATE;

-- name: revoke_key
-- $1 key; after lock_key in the same transaction.
UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1::bigint;

-- name: expire_key
-- $1 key. Locks: the key, but lets claims pass. No row: there is none such; false: it had expired.
WITH locked AS MATERIALIZED (
  SELECT id, coalesce(expires_at <= clock_timestamp(), false) AS is_past
    FROM api_keys
   WHERE id = $1::bigint
     FOR NO KEY UPDATE
), changed AS (
  UPDATE api_keys k SET expires_at = clock_timestamp()
    FROM locked l
   WHERE k.id = l.id AND NOT l.is_past
)
SELECT NOT is_past FROM locked;

-- name: hold_live_key
-- $1 key. No row: revoked or expired. Locks: the key FOR KEY SHARE.
SELECT id
  FROM api_keys
 WHERE id = $1::bigint AND revoked_at IS NULL
   AND (expires_at IS NULL OR expires_at > clock_timestamp())
   FOR KEY SHARE;

-- name: touch_keys
-- $1 keys bigint[]. Locks: keys in id order, skipping held ones, without barring claims.
WITH locked AS MATERIALIZED (
  SELECT id FROM api_keys WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE api_keys k SET last_used_at = clock_timestamp() FROM locked l WHERE k.id = l.id;

-- name: list_projects
-- Locks nothing.
SELECT id, name, sender_domains, max_outstanding,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at
  FROM projects
 ORDER BY name
 LIMIT 1000;

-- name: insert_project
-- $1 id, $2 name. No row where it exists. Unique index projects_name_key.
INSERT INTO projects (id, name) VALUES ($1::bigint, $2::text)
ON CONFLICT (name) DO NOTHING
RETURNING id;

-- name: change_project
-- $1 name, $2 sender domains text[] or NULL, $3 bound of what is outstanding or NULL; what was
-- changed, for the trail. No row where there is none such. Locks: the project.
UPDATE projects
   SET sender_domains = coalesce($2::text[], sender_domains),
       max_outstanding = coalesce($3::bigint, max_outstanding)
 WHERE name = $1::text
RETURNING json_strip_nulls(json_build_object('sender_domains', $2::text[],
                                             'max_outstanding', $3::bigint))::text;

-- name: outstanding_messages
-- $1 project, $2 environment. Locks nothing. Index: streams_open, campaigns_pkey, counters_pkey.
-- A canceled campaign's rest counts no more: it goes within seconds.
SELECT coalesce(sum(k.open + coalesce(c.audience - c.expanded, 0)), 0)::bigint
  FROM streams s
  JOIN routes r ON r.id = s.route
  LEFT JOIN campaigns c ON c.id = s.id
 CROSS JOIN LATERAL (SELECT coalesce(sum(n.open), 0)::bigint AS open
                       FROM counters n WHERE n.stream = s.id) k
 WHERE s.project = $1::bigint AND s.state IN ('running', 'paused')
   AND r.environment = $2::text;
