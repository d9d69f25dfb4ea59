-- only postgres
-- Forgets sessions of nodes that are forgotten, when no process of that number is there: one that comes back connects
-- anew, and writes itself in.
DELETE FROM session s WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.key = s.node)
    AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = s.pid)
