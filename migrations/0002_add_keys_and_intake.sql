-- What the service around the dispatch path needs: keys, limits, idempotency, drafts, operators.

ALTER TABLE projects
  -- Domains that a sender's address may have, also as a parent domain; empty: any.
  ADD COLUMN sender_domains   text[] NOT NULL DEFAULT '{}',
  -- Queued, attempting and not yet expanded messages of one environment; above it nothing is taken.
  ADD COLUMN max_outstanding  bigint NOT NULL DEFAULT 5000000 CHECK (max_outstanding >= 1);

-- The secret is 256 random bits, so that a plain SHA-256 of it is enough.
CREATE TABLE api_keys (
  id                bigint PRIMARY KEY,
  project           bigint NOT NULL REFERENCES projects,
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at        timestamptz,
  revoked_at        timestamptz,
  last_used_at      timestamptz,               -- within a minute
  environment       text NOT NULL,
  name              text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  scopes            text[] NOT NULL CHECK (scopes <@ ARRAY['send', 'read', 'manage', 'admin']
                                           AND cardinality(scopes) >= 1),
  secret_hash       bytea NOT NULL CHECK (length(secret_hash) = 32),
  limit_per_minute  int CHECK (limit_per_minute >= 1)  -- messages, or requests without any
);
CREATE INDEX api_keys_named ON api_keys (project, environment, name) WHERE revoked_at IS NULL;

-- Who changed what: one row per change of state by an operator or a key.
CREATE TABLE audit_log (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor    text NOT NULL,                      -- cli:USER@HOST or key:ID
  action   text NOT NULL,                      -- key.revoke, route.pause, ...
  subject  text NOT NULL,
  detail   json NOT NULL DEFAULT '{}'
);

-- Answers that must be given again. Kept for 7 days.
CREATE TABLE idempotency_keys (
  project      bigint NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  status       smallint NOT NULL,
  environment  text NOT NULL,
  key          text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  body_hash    bytea NOT NULL CHECK (length(body_hash) = 32),
  response     text NOT NULL,
  PRIMARY KEY (project, environment, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

ALTER TABLE messages
  ADD COLUMN key        bigint NOT NULL DEFAULT 0,  -- that accepted it; 0: none
  ADD COLUMN tags       json,                       -- names and values of the sender's own
  ADD COLUMN addresses  json;                       -- to, cc, bcc, reply_to as given, where they
                                                    -- are more than the recipients

-- Direct mail of one project: one stream per priority that is used.
DROP INDEX streams_direct;
CREATE UNIQUE INDEX streams_direct ON streams (route, project, priority) WHERE kind = 'direct';

-- What a project has outstanding is summed over these.
CREATE INDEX streams_open ON streams (project) WHERE state IN ('running', 'paused');

-- Drafts are filled page by page: an address once.
CREATE TABLE campaign_recipients (
  campaign   bigint NOT NULL,
  recipient  uuid NOT NULL,                    -- MD5 of the normalised address
  PRIMARY KEY (campaign, recipient)
);
ALTER TABLE campaigns
  ADD COLUMN key                 bigint NOT NULL DEFAULT 0,
  ADD COLUMN has_recipient_keys  boolean NOT NULL DEFAULT false;
CREATE INDEX campaigns_with_recipient_keys ON campaigns (id) WHERE has_recipient_keys;

-- paused: by an operator, until an operator resumes it.
ALTER TABLE routes
  DROP CONSTRAINT routes_state_check,
  ADD CONSTRAINT routes_state_check CHECK (state IN ('running', 'waiting', 'stopped', 'paused')),
  -- An operator's target in place of the configuration's.
  ADD COLUMN rate_override_mhz bigint CHECK (rate_override_mhz > 0);

ALTER TABLE nodes ADD COLUMN stop_requested_at timestamptz;

CREATE OR REPLACE VIEW route_readings AS
SELECT r.id, r.environment, r.generation, r.shard_count,
       CASE WHEN n.begun THEN r.grid_number + 1 ELSE r.grid_number END AS grid_number,
       CASE WHEN n.begun THEN r.next_start_ns ELSE r.grid_start_ns END AS grid_start_ns,
       CASE WHEN n.begun THEN r.next_target_mhz ELSE r.target_mhz END AS target_mhz,
       CASE WHEN n.begun THEN NULL ELSE r.next_start_ns END AS next_start_ns,
       CASE WHEN n.begun THEN NULL ELSE r.next_target_mhz END AS next_target_mhz,
       t.now_ns AS read_at_ns,
       CASE WHEN r.brake_until > statement_timestamp()
            THEN (extract(epoch FROM r.brake_until - statement_timestamp()) * 1e9)::bigint
            ELSE 0 END AS brake_left_ns,
       r.state, r.state_reason,
       CASE WHEN r.waiting_until > statement_timestamp()
            THEN (extract(epoch FROM r.waiting_until - statement_timestamp()) * 1e9)::bigint
            ELSE 0 END AS waiting_left_ns,
       coalesce(r.max_24h, -1) >= 0 AS daily_limited,
       coalesce(r.max_rate_mhz, 0) AS quota_mhz,
       coalesce(r.rate_override_mhz, 0) AS override_mhz
  FROM routes r
 CROSS JOIN LATERAL (SELECT (extract(epoch FROM statement_timestamp()) * 1e9)::bigint AS now_ns) t
 CROSS JOIN LATERAL (SELECT coalesce(r.next_start_ns <= t.now_ns, false) AS begun) n;
