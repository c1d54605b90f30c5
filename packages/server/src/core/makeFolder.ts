import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Makes a folder that only its owner may open, and those above it. With `recursive`, Node would try
 * for ever where the system takes no folder but says that the one above is missing, as in `/proc`.
 */
export const makeFolder = (folder: string): void => {
  if (isFolder(folder)) return
  const above = path.dirname(path.resolve(folder))
  if (!isFolder(above)) makeFolder(above)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have been faster.
    if (!isFolder(folder)) throw cause
  }
}

const isFolder = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
