/** The messages between the main thread and the thread of the store. */
import type { MessagePort } from "node:worker_threads"

export interface WorkerOptions {
  /** A directory to work in, or a template to load into memory. */
  readonly files: { readonly _tag: "Directory" | "Template"; readonly path: string }
  readonly checkpointAfterBytes: number
  readonly maintainEveryMillis: number
}

export type ToWorker =
  | { readonly _tag: "Connect"; readonly port: MessagePort; readonly flow: SharedArrayBuffer }
  | { readonly _tag: "Close" }

export type FromWorker =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Failed"; readonly reason: string }

/**
 * A message on a connection's port. The store sends null before it closes a port. A port that
 * closes without it belonged to a thread that crashed.
 */
export type Chunk = Uint8Array<ArrayBuffer> | null

/**
 * Two numbers in shared memory limit what a connection holds in flight. The engine answers
 * synchronously and cannot be paused, so a large result would otherwise pile up in the port. With
 * them the store's thread sleeps, as a server does when its client does not read.
 */
export const flowUnread = 0
export const flowClosed = 1
export const makeFlow = (): SharedArrayBuffer => new SharedArrayBuffer(8)
export const maxUnreadBytes = 4 * 1024 * 1024
