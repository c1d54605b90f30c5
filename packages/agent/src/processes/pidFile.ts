import { constants } from "node:fs"
import { open, stat } from "node:fs/promises"

/** A pid, with room for blanks and a line end. */
const maxBytes = 32

/** A writer of a pipe may never come, and a terminal must not become that of the agent. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * The pid that a file holds, if it is one. Whoever names the file may name a device, which waits or
 * never ends.
 */
export const pidIn = async (file: string): Promise<number | undefined> => {
  try {
    // To open some devices is to use them, so this comes first.
    if (!(await stat(file)).isFile()) return undefined
    const handle = await open(file, flags)
    try {
      // Another may have taken its place.
      if (!(await handle.stat()).isFile()) return undefined
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes + 1))
      return bytesRead > maxBytes ? undefined : pidOf(buffer.toString("utf8", 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}

const pidOf = (text: string) => (/^\s*[1-9]\d{0,9}\s*$/.test(text) ? Number(text) : undefined)
