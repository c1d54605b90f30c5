import { constants } from "node:fs"
import { open, stat } from "node:fs/promises"

/** Enough for a pid with spaces and a line end. */
const maxBytes = 32

/** Opening a pipe must not wait for a writer, and a terminal must not become the agent's own. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Reads a pid from a file. Undefined if the file has none. Only regular files are read, because a
 * user may name a device, which blocks or never ends.
 */
export const pidIn = async (file: string): Promise<number | undefined> => {
  try {
    // Checked before opening, because opening some devices has effects.
    if (!(await stat(file)).isFile()) return undefined
    const handle = await open(file, flags)
    try {
      // Checked again, because the file may have been replaced meanwhile.
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
