-- What messages share.

-- name: insert_content
-- $1 id, $2 project, $3 hash bytea, $4 sender, $5 subject, $6 text, $7 HTML, $8 headers json.
INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body, headers)
VALUES ($1::bigint, $2::bigint, $3::bytea, $4, $5, $6, $7, $8::json);

-- name: load_contents
-- $1 ids bigint[]. Index: contents_pkey.
SELECT id, encode(hash, 'hex') AS hash, sender, subject, text_body, html_body, headers
  FROM contents
 WHERE id = ANY ($1::bigint[]);
