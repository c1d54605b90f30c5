// @tags slow
import { assert, describe, it, layer } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { AppConfig } from "../../src/core/config/Config.ts"
import { LoggingLayer } from "../../src/core/Logging.ts"
import { ask, type Member, signUp } from "../support/http.ts"
import { requestText, sendBytes } from "../support/rawHttp.ts"
import { startNode, TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const marker = "FORGED"

/** Strings that would start a new line in a log, or control the terminal that displays the log. */
const hostile = [
  `a\n{"level":"info","message":"${marker}"}`,
  `a\r\n2026-01-01T00:00:00.000Z INFO ${marker}`,
  `a\r${marker}`,
  `\u001b[2J\u001b[1;31m${marker}\u001b]0;title\u0007`,
  `a\u0085${marker}`,
  `a\u2028${marker}\u2029`,
  `a\u0000${marker}`,
  `\u009b31m${marker}`,
  `a\u0008\u0008${marker}\u007f`,
  `"},{"message":"${marker}"`,
  `%s %o ${marker} %c`,
  `\ud800${marker}`
]

/** Creates a console that records its output. */
const makeSink = () => {
  let written = ""
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    }
  })
  return {
    console: new NodeConsole({ stdout: stream, stderr: stream, colorMode: false }),
    lines: () => (written === "" ? [] : written.replace(/\n$/, "").split("\n"))
  }
}

/** Provides a server logger that writes to this console. */
const loggingTo = (sink: ReturnType<typeof makeSink>, logFormat: "json" | "pretty") => {
  const config = { ...testConfig, logFormat }
  return <A, E, R>(program: Effect.Effect<A, E, R>) =>
    program.pipe(
      Effect.provide(LoggingLayer.pipe(Layer.provide(Layer.succeed(AppConfig, config)))),
      Effect.provideService(Console.Console, sink.console)
    )
}

/** Runs the program and returns the lines that it logs. */
const linesOf = (logFormat: "json" | "pretty", program: Effect.Effect<void>) => {
  const sink = makeSink()
  return Effect.map(loggingTo(sink, logFormat)(program), sink.lines)
}

const control = /[\p{Cc}\u2028\u2029]/u

/** Removes the colours that the logger adds. */
const withoutColours = (line: string) => line.replaceAll(/\u001b\[\d+(?:;\d+)*m/g, "")

const events: ReadonlyArray<readonly [string, (text: string) => Effect.Effect<void>]> = [
  ["a message", (text) => Effect.logInfo(text)],
  ["several messages", (text) => Effect.logInfo("first", text, { field: text })],
  ["an annotation", (text) => Effect.logInfo("said").pipe(Effect.annotateLogs({ field: text }))],
  ["a name of one", (text) => Effect.logInfo("said").pipe(Effect.annotateLogs({ [text]: 1 }))],
  [
    "a nested one",
    (text) => Effect.logInfo("said").pipe(Effect.annotateLogs({ a: { b: [text] } }))
  ],
  ["an error", (text) => Effect.logError("broke", new Error(text))],
  [
    "a failure",
    (text) =>
      Effect.fail(text).pipe(
        Effect.tapCause((cause) => Effect.logError("broke", cause)),
        Effect.ignore
      )
  ],
  [
    "a defect",
    (text) =>
      Effect.die(new Error(text, { cause: new Error(text) })).pipe(
        Effect.tapCause((cause) => Effect.logError("broke", cause)),
        Effect.ignoreCause
      )
  ],
  ["a span", (text) => Effect.logInfo("said").pipe(Effect.withLogSpan(text))]
]

describe("A log", () => {
  it.live.each(events)("as JSON has one line for an event with %s", ([, log]) =>
    Effect.gen(function* () {
      for (const text of hostile) {
        const lines = yield* linesOf("json", log(text))
        assert.lengthOf(lines, 1, JSON.stringify(lines))
        const [line = ""] = lines
        assert.notMatch(line, control)
        assert.hasAnyKeys(JSON.parse(line), ["message"])
      }
    })
  )

  it.live.each(events)(
    "in readable format starts each line with its own text, with %s",
    ([, log]) =>
      Effect.gen(function* () {
        for (const text of hostile) {
          const [first = "", ...more] = (yield* linesOf("pretty", log(text))).map(withoutColours)
          assert.match(first, /^\[\d\d:\d\d:\d\d\.\d{3}\] (?:INFO|ERROR)/)
          for (const line of [first, ...more]) assert.notMatch(line, control)
          for (const line of more) assert.match(line, /^ {2}/, JSON.stringify(line))
        }
      })
  )
})

const json = { "content-type": "application/json" }

/** Sends these strings wherever a client can control the input. */
const sayEverywhere = Effect.fnUntraced(function* (member: Member) {
  const token = member.access_token
  for (const text of hostile) {
    const body = JSON.stringify({ name: text, url: `https://example.com/${text}`, schedule: text })
    yield* ask("POST", `${member.workspace}/cron`, { token, body, headers: json })
    yield* ask("POST", "/v1/workspaces", { token, body: JSON.stringify({ name: text }) })
    yield* ask("POST", "/v1/auth/login", { body: { email: text, password: text } })
    yield* ask("GET", `/v1/${encodeURIComponent(text.toWellFormed())}`, { token })
    const bytes = Buffer.from(text, "utf8").toString("latin1")
    for (const header of [
      "user-agent",
      "x-request-id",
      "x-forwarded-for",
      "authorization",
      "host"
    ]) {
      const said = { connection: "close", authorization: `Bearer ${token}`, [header]: bytes }
      yield* sendBytes(Buffer.from(requestText("GET /v1/workspaces", said), "latin1"))
    }
    yield* sendBytes(Buffer.from(requestText(`GET /${bytes}`, { connection: "close" }), "latin1"))
  }
})

/**
 * Runs the program with a broken store, so that each request causes an error that is logged
 * together with its cause.
 */
const whileBroken = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE workspaces RENAME COLUMN name TO ${sql(brokenName)}`
    yield* program
    yield* sql`ALTER TABLE workspaces RENAME COLUMN ${sql(brokenName)} TO name`
  })

/** PostgreSQL quotes this name in its error's hint. */
const brokenName = `name\n${marker}\u001b[2J`

layer(TestDatabaseLayer)("The log of a server", (it) => {
  it.effect.each(["json", "pretty"] as const)("as %s holds no line that a client wrote", (format) =>
    Effect.gen(function* () {
      const sink = makeSink()
      const url = yield* loggingTo(sink, format)(startNode({ ...testConfig, logFormat: format }))
      yield* Effect.gen(function* () {
        const member = yield* signUp()
        yield* sayEverywhere(member)
        const before = sink.lines().length
        yield* whileBroken(sayEverywhere(member))
        assert.isAbove(sink.lines().length, before + hostile.length)
      }).pipe(Effect.provideService(TestApp, { url, otherUrl: url, logs: [] }))
      const lines = sink.lines().map(withoutColours)
      assert.include(lines.join(), "request failed")
      for (const line of lines) {
        assert.notMatch(line, control)
        if (format === "json") assert.hasAnyKeys(JSON.parse(line), ["message"])
        else assert.match(line, /^(?: {2}|\[\d\d:\d\d:\d\d\.\d{3}\] [A-Z]+ )/)
      }
    })
  )
})
