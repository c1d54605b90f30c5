/**
 * Vitest loads this before the tests. If `STATEMENTS_RUN` names a folder, it writes the text of
 * every statement that the database accepted there, for `check-statements.ts`.
 */
import { Exit } from "effect"
import { NativeSpan } from "effect/Tracer"
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { threadId } from "node:worker_threads"

const folder = process.env["STATEMENTS_RUN"]
const isRecording = Symbol.for("scheduling/record-statements")

// The test files of a worker share their modules, but this file is loaded for each of them.
if (folder !== undefined && !(isRecording in NativeSpan.prototype)) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${process.pid}-${threadId}.jsonl`)
  const known = new Set<unknown>()
  const end = NativeSpan.prototype.end
  Object.assign(NativeSpan.prototype, {
    [isRecording]: true,
    end(this: NativeSpan, ...[endTime, exit]: Parameters<typeof end>) {
      const text = this.attributes.get("db.query.text")
      if (text !== undefined && Exit.isSuccess(exit) && !known.has(text)) {
        known.add(text)
        appendFileSync(file, `${JSON.stringify(text)}\n`)
      }
      return end.call(this, endTime, exit)
    }
  })
}
