import { NodeFS } from "@electric-sql/pglite/nodefs"
import * as fs from "node:fs"

type InitParameters = Parameters<NodeFS["init"]>

interface OpenFile {
  readonly nfd: number
  readonly node: { readonly name: string }
}

/**
 * The parts of Emscripten's NODEFS that are wrapped here. The types of NODEFS declare only `mount`.
 */
interface NodeFsOps {
  readonly node_ops: Record<
    "rename" | "rmdir" | "unlink",
    (...args: ReadonlyArray<unknown>) => unknown
  > & {
    setattr: (node: unknown, attributes: { readonly mode?: number }) => void
    mknod: (parent: unknown, name: string, mode: number, device: unknown) => unknown
  }
  readonly stream_ops: {
    close: (file: OpenFile) => void
    fsync?: (file: OpenFile) => number
    setattr: (file: OpenFile, ...args: ReadonlyArray<unknown>) => void
    write: (
      file: OpenFile,
      buffer: Uint8Array,
      offset: number,
      length: number,
      position: number
    ) => number
  }
}

/** Removes the permissions of other users, because PGlite creates world-writable files. */
const ownerMode = (mode: number): number => mode & ~0o077

const isWalSegment = (file: OpenFile): boolean => /^[0-9A-F]{24}$/.test(file.node.name)

/**
 * Adds fsync to PGlite, which runs with fsync off and whose file system has none. Without fsync, a
 * power failure could lose acknowledged rows and tear pages. An fsync of the WAL is only recorded.
 * `flush` performs it, once for many commits, and the worker calls `flush` before it sends a
 * response. 32 pipelined commits therefore cost one fdatasync (measured: 0.1 ms) instead of 32.
 *
 * PostgreSQL relies on the WAL being on disk before anything else changes, so every other change on
 * disk flushes the WAL first. A failed fsync throws an error, which stops the worker. A retry would
 * be wrong, because the kernel may have dropped the pages that it could not write and would report
 * success.
 */
export class DurableFs extends NodeFS {
  #walBytes = 0
  readonly #unsynced = new Set<number>()

  /** Bytes written to the WAL since the last call to `resetWalBytes`. */
  get walBytes(): number {
    return this.#walBytes
  }

  resetWalBytes(): void {
    this.#walBytes = 0
  }

  flush(): void {
    if (this.#unsynced.size === 0) return
    for (const fd of this.#unsynced) fs.fdatasyncSync(fd)
    this.#unsynced.clear()
  }

  override async init(pg: InitParameters[0], options: InitParameters[1]) {
    const { emscriptenOpts } = await super.init(pg, options)
    const install = (mod: { readonly NODEFS: unknown }) => this.#install(mod.NODEFS as NodeFsOps)
    const preRun = [...(emscriptenOpts.preRun ?? []), install]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }

  #install({ node_ops: nodes, stream_ops: files }: NodeFsOps): void {
    const { close, setattr, write } = files
    files.fsync = (file) => {
      if (isWalSegment(file)) {
        this.#unsynced.add(file.nfd)
      } else {
        this.flush()
        fs.fsyncSync(file.nfd)
      }
      return 0
    }
    files.write = (file, buffer, offset, length, position) => {
      if (isWalSegment(file)) this.#walBytes += length
      else this.flush()
      return write(file, buffer, offset, length, position)
    }
    files.close = (file) => {
      if (this.#unsynced.has(file.nfd)) this.flush()
      close(file)
    }
    files.setattr = (file, ...args) => {
      this.flush()
      setattr(file, ...args)
    }
    const { mknod, setattr: setNodeAttr } = nodes
    nodes.setattr = (node, { mode, ...rest }) => {
      this.flush()
      setNodeAttr(node, mode === undefined ? rest : { ...rest, mode: ownerMode(mode) })
    }
    nodes.mknod = (parent, name, mode, device) => mknod(parent, name, ownerMode(mode), device)
    for (const name of ["rename", "rmdir", "unlink"] as const) {
      const change = nodes[name]
      nodes[name] = (...args) => {
        this.flush()
        return change(...args)
      }
    }
  }
}
