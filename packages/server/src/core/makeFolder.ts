import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Creates a folder and its parents. Only the owner can access the folder. The option `recursive` of
 * Node is not used, because it loops forever if the system rejects a new folder with ENOENT, as in
 * `/proc`.
 */
export const makeFolder = (folder: string): void => {
  if (isFolder(folder)) return
  const above = path.dirname(path.resolve(folder))
  if (!isFolder(above)) makeFolder(above)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have created the folder at the same time.
    if (!isFolder(folder)) throw cause
  }
}

const isFolder = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
