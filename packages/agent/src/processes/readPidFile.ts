import { constants } from "node:fs"
import { open, stat } from "node:fs/promises"

/** Maximum length of a pid file: a pid with spaces and a line break. */
const maxBytes = 32

/**
 * Opening a pipe does not block, and opening a terminal does not make it the agent's controlling
 * terminal.
 */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Reads a pid from a file, or returns undefined if the file contains none. Only regular files are
 * read: a monitor could name a device, and reading a device may block or never end.
 */
export const readPidFile = async (file: string): Promise<number | undefined> => {
  try {
    // Opening some devices has side effects, so the type is checked first.
    if (!(await stat(file)).isFile()) return undefined
    const handle = await open(file, openFlags)
    try {
      // The file may have been replaced since the check.
      if (!(await handle.stat()).isFile()) return undefined
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes + 1))
      return bytesRead > maxBytes ? undefined : parsePid(buffer.toString("utf8", 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}

const parsePid = (text: string) => (/^\s*[1-9]\d{0,9}\s*$/.test(text) ? Number(text) : undefined)
