/** The thread of the embedded store. It opens PGlite and serves connections. */
import { PGlite } from "@electric-sql/pglite"
import { parentPort, workerData } from "node:worker_threads"
import type { FromStoreThread, ToStoreThread, StoreThreadOptions } from "./channel.ts"
import { DurableFs } from "./DurableFs.ts"
import { Session } from "./Session.ts"
import { diskStartParams, memoryStartParams } from "./settings.ts"
import { readDatabaseTemplate } from "./template.ts"

const options: StoreThreadOptions = workerData
const port = parentPort
if (port === null) throw new Error("worker.ts runs as a worker thread")

const post = (message: FromStoreThread): void => port.postMessage(message)

/**
 * The last error that PostgreSQL has reported. It explains why the store failed to start or has
 * stopped.
 */
let lastError = ""
const onStderr = (line: string): boolean => {
  if (!/ (LOG|WARNING|NOTICE|DETAIL|HINT|CONTEXT|STATEMENT): /.test(line)) lastError = line
  return false
}

const stop = (cause: unknown): never => {
  const reasons = [cause instanceof Error ? cause.message : "", lastError]
  post({ _tag: "Failed", reason: reasons.filter(Boolean).join("; ") })
  process.exit(1)
}

const open = async (): Promise<Session> => {
  const { checkpointAfterBytes, files } = options
  if (files._tag === "Directory") {
    const disk = new DurableFs(files.path)
    const pg = await PGlite.create({ fs: disk, startParams: diskStartParams, onStderr })
    return new Session({ pg, disk, checkpointAfterBytes, stop })
  }
  const tar = readDatabaseTemplate(files.path)
  if (tar === undefined)
    throw new Error(`${files.path} is missing or damaged; restart the service to create it again`)
  const pg = await PGlite.create({
    loadDataDir: new Blob([tar]),
    startParams: memoryStartParams,
    onStderr
  })
  return new Session({ pg, disk: undefined, checkpointAfterBytes, stop })
}

open().then((session) => {
  port.on("message", (message: ToStoreThread) => {
    switch (message._tag) {
      case "Connect":
        return session.connect(message.port, message.flow)
      case "Close":
        session.close().then(() => process.exit(0), stop)
    }
  })
  setInterval(() => session.maintain().catch(stop), options.maintainEveryMillis)
  post({ _tag: "Ready" })
}, stop)
