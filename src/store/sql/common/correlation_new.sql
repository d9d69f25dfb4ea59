INSERT INTO correlation {insert namespace int, key text, instance int, scope int}
