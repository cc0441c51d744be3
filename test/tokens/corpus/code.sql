-- Messages per branch, with the share that was edited.
CREATE TABLE IF NOT EXISTS message (
  chat_id    uuid        NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
  id         text        NOT NULL,
  parent_id  text,
  role       varchar(16) NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
  body       jsonb       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (chat_id, id)
);
CREATE INDEX message_parent ON message (chat_id, parent_id);

WITH RECURSIVE chain AS (
  SELECT m.*, 0 AS depth FROM message m JOIN branch b ON b.head = m.id WHERE b.name = $1
  UNION ALL
  SELECT m.*, chain.depth + 1 FROM message m JOIN chain ON m.id = chain.parent_id
)
SELECT role, count(*) AS messages, avg(length(body ->> 'text'))::int AS characters
FROM chain
GROUP BY role
ORDER BY messages DESC
LIMIT 10;
