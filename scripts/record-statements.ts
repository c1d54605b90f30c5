/**
 * Vitest loads this file before the tests. If `STATEMENTS_RUN` is set, it writes all statements
 * that the database accepted into that folder, for `check-statements.ts`.
 */
import { Exit } from "effect"
import { NativeSpan } from "effect/Tracer"
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { threadId } from "node:worker_threads"

const folder = process.env["STATEMENTS_RUN"]
const isRecording = Symbol.for("scheduling/record-statements")

// This file is loaded for each test file, but all test files in a Vitest worker share modules.
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
