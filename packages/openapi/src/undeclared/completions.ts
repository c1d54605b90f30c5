import { maxProgressBytes, maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import type { Method, Operation, Parameter } from "../model.ts"
import { plainAnswer, unavailable } from "./pings.ts"

/** Call-backs are answered before the routes of the API, in plain text, so no endpoint declares them. */
export const completionsTag = {
  name: "Call-backs of jobs",
  description:
    "How jobs that go on after their answer say that they are done. Their calls carry the URL in " +
    "`Scheduling-Complete-Url`, if the task has a `completion`. The URL is the credential."
}

const token: Parameter = {
  name: "token",
  in: "path",
  required: true,
  description: "The end of the URL that the call carried. It is about one attempt.",
  schema: {
    type: "string",
    pattern: "^[\\w-]{91}$",
    examples: ["AZqfPFse".repeat(11).padEnd(91, "0")]
  }
}

const responses = {
  200: plainAnswer("It is on disk, now or since an earlier request that said the same.", "OK"),
  404: plainAnswer("The service has not made this URL.", "not found"),
  409: plainAnswer(
    "A further attempt has begun, or an earlier request said otherwise. Nothing has changed.",
    "too late: another attempt has begun"
  ),
  410: plainAnswer(
    "The attempt has ended without it: it timed out, or was cancelled. Nothing has changed.",
    "too late: this attempt has already finished"
  )
}

const said = (
  { id, path, summary }: { readonly id: string; readonly path: string; readonly summary: string },
  description: string,
  example: string,
  more: Operation["responses"] = {}
) => ({
  post: {
    operationId: `completions.${id}`,
    tags: [completionsTag.name],
    summary,
    description: `${description} Needs no credential but the URL.`,
    security: [],
    "x-access": "public",
    parameters: [token],
    requestBody: {
      required: false,
      content: { "text/plain": { schema: { type: "string" }, example } }
    },
    responses: { ...responses, ...more, 503: unavailable },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "curl",
        source: `curl -fsS -m 10 --retry 5 -d "${example}" "$COMPLETE_URL${path}"`
      }
    ]
  } satisfies Operation
})

const keptBody = `The first ${maxResponseBodyBytes} bytes of the body are kept as the answer of the attempt.`

export const completionPaths: Readonly<
  Record<string, Readonly<Partial<Record<Method, Operation>>>>
> = {
  "/complete/{token}": said(
    { id: "complete", path: "", summary: "Say that the job is done" },
    `Ends the attempt as a success. ${keptBody} Steps of a chain after it may use it.`,
    "42 files copied"
  ),
  "/complete/{token}/fail": said(
    { id: "fail", path: "/fail", summary: "Say that the job has failed" },
    `Ends the attempt as a failure, which is tried again as the retries of the task say. ${keptBody}`,
    "the disk is full"
  ),
  "/complete/{token}/log": said(
    { id: "log", path: "/log", summary: "Say how the job goes" },
    `The first line of the body, up to ${maxProgressBytes} bytes of it, is shown in the \`progress\` of the execution.`,
    "half of it is done",
    {
      429: plainAnswer("More than 60 lines in a minute.", "too many lines: at most 60 per minute")
    }
  )
}
