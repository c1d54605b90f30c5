import { maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import { Clock, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { MinuteQuota, readBodyStart } from "../../http/index.ts"
import { type JobReport, Completions, type ReportOutcome } from "./Completions.ts"
import { CompletionUrls } from "./CompletionUrls.ts"

/**
 * Handles requests to completion URLs before the router. Responses are plain text like those to
 * pings, because the sender may be a shell script. Other requests are passed to `answer`.
 */
export const withCompletionRoute = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function* () {
    const completions = yield* Completions
    const urls = yield* CompletionUrls
    const quota = new MinuteQuota()
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
        request.method === "POST" && request.url.startsWith("/complete/")
          ? handleReport({ completions, quota, urls }, request)
          : answer
    )
  })

const shape = /^\/complete\/([^/?]+)(?:\/(fail|log))?(?:\?.*)?$/

const kinds: Readonly<Record<string, JobReport["what"]>> = {
  fail: "failed",
  log: "progress"
}

const plainTextResponse = (status: number, text: string) =>
  HttpServerResponse.text(`${text}\n`, { status, headers: { "cache-control": "no-store" } })

const notFound = plainTextResponse(404, "not found")

const tooManyLines = HttpServerResponse.setHeader(
  plainTextResponse(429, "too many progress lines: at most 60 per minute"),
  "retry-after",
  "60"
)

const answers: Record<ReportOutcome, HttpServerResponse.HttpServerResponse> = {
  recorded: plainTextResponse(200, "OK"),
  superseded: plainTextResponse(409, "too late: another attempt has begun"),
  contradicted: plainTextResponse(409, "this attempt has already finished with a different result"),
  late: plainTextResponse(410, "too late: this attempt has already finished")
}

const handleReport = Effect.fnUntraced(function* (
  {
    completions,
    quota,
    urls
  }: {
    readonly completions: Completions["Service"]
    readonly quota: MinuteQuota
    readonly urls: CompletionUrls["Service"]
  },
  request: HttpServerRequest.HttpServerRequest
) {
  const [, token = "", kind = ""] = shape.exec(request.url) ?? []
  const attempt = urls.read(token)
  if (attempt === undefined) return notFound
  const what = kinds[kind] ?? "done"
  const now = yield* Clock.currentTimeMillis
  if (what === "progress" && !quota.take(attempt.id, now)) return tooManyLines
  const body = yield* readBodyStart(request, maxResponseBodyBytes)
  return answers[yield* completions.receive({ ...attempt, what, body })]
})
