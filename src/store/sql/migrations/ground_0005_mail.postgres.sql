-- What nodes say to each other beyond a hint: each letter is read and deleted by the node that it is for. A letter may be
-- lost with a crash of the database, or with its reader: whoever sent it says it again, or goes on without an answer.
CREATE TABLE mail (
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    receiver BIGINT NOT NULL, -- a node, as the next
    sender BIGINT NOT NULL,
    kind BIGINT NOT NULL,     -- of src/commit/mail.h
    sent_us BIGINT NOT NULL,
    body TEXT NOT NULL,       -- JSON
    PRIMARY KEY (receiver, seq)
);
