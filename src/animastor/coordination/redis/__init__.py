"""Coordination in Redis (6.2 and later) or Valkey: the same rules as in memory, one script call for each operation.

`lua/` holds a script for each operation of the port, `lua/shared/` the pieces that they are made of. Needs the extra
`redis`; nothing else in the program does.
"""

from animastor.coordination.redis.coordination import RedisCoordination, root_of
from animastor.coordination.redis.link import Link, RedisLink
from animastor.coordination.redis.scripts import Script, load_scripts

__all__ = ["Link", "RedisCoordination", "RedisLink", "Script", "load_scripts", "root_of"]
