UPDATE answer_link a SET turn = a.turn + 1 FROM {bare key int, turn int} WHERE a.key = u.key AND a.turn = u.turn
RETURNING u.row
