"""What the package reads and writes: results, score files, tables, and the copies that travel with it."""
