/** The messages between the main thread and the thread of the store. */
import type { MessagePort } from "node:worker_threads"

export interface StoreThreadOptions {
  /** The directory of the store, or the template that is loaded into memory. */
  readonly files: { readonly _tag: "Directory" | "Template"; readonly path: string }
  readonly checkpointAfterBytes: number
  readonly maintainEveryMillis: number
}

export type ToStoreThread =
  | { readonly _tag: "Connect"; readonly port: MessagePort; readonly flow: SharedArrayBuffer }
  | { readonly _tag: "Close" }

export type FromStoreThread =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Failed"; readonly reason: string }

/**
 * A message on the port of a connection. The store sends null before it closes a port. If a port
 * closes without null, the thread has crashed.
 */
export type Chunk = Uint8Array<ArrayBuffer> | null

/**
 * The indexes of two numbers in shared memory that limit the unread bytes of a connection. The
 * engine responds synchronously and cannot be paused, so a large result would pile up in the port.
 * With these numbers the store's thread sleeps until the client reads, as a server would.
 */
export const unreadBytesIndex = 0
export const isClosedIndex = 1
export const makeFlowControl = (): SharedArrayBuffer => new SharedArrayBuffer(8)
/** How many bytes of results the client may leave unread before the store's thread sleeps. */
export const maxUnreadResultBytes = 4 * 1024 * 1024
