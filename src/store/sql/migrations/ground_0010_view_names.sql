-- The name of a view that somebody keeps for themselves stands in nobody's way: names differ among those of one owner, and
-- among those that are shared.
DROP INDEX saved_view_name;
CREATE UNIQUE INDEX saved_view_shared ON saved_view (namespace, scope, bucket, name) WHERE shared <> 0;
CREATE UNIQUE INDEX saved_view_own ON saved_view (namespace, scope, owner, bucket, name);
