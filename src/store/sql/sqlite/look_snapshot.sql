-- -> a text that is another one after every write of another connection
SELECT cast(data_version AS TEXT) FROM pragma_data_version
