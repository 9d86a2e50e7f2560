-- What real mail needs: attachments, defaults, unsubscribing, and why a campaign waits.

ALTER TABLE contents
  -- What becomes of a field that a message does not have: 0 empty, 1 the default, 2 rejected.
  ADD COLUMN missing   smallint NOT NULL DEFAULT 0 CHECK (missing BETWEEN 0 AND 2),
  ADD COLUMN defaults  json NOT NULL DEFAULT '{}';

CREATE TABLE content_attachments (
  content     bigint NOT NULL REFERENCES contents ON DELETE CASCADE,
  position    smallint NOT NULL CHECK (position BETWEEN 0 AND 49),
  name        text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 255),
  media_type  text NOT NULL,
  content_id  text NOT NULL DEFAULT '',         -- not empty: inline, for cid: in the HTML
  data        bytea NOT NULL,
  PRIMARY KEY (content, position)
);
ALTER TABLE content_attachments ALTER COLUMN data SET STORAGE EXTERNAL; -- most are compressed

-- Why a stream is paused, where the provider is the reason; empty: by an operator, or it is not.
ALTER TABLE streams ADD COLUMN state_reason text NOT NULL DEFAULT '';

-- People who took themselves off a project's campaigns, and from which one. Their addresses are
-- also in suppressions with the reason 'unsubscribe', which stops campaigns but no direct mail.
CREATE TABLE unsubscribes (
  project      bigint NOT NULL REFERENCES projects,
  environment  text NOT NULL,
  address      text NOT NULL,                   -- normalised, see storage/suppressions
  stream       bigint NOT NULL,
  at           timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, environment, address, stream)
);
