import { maxProgressLineBytes, maxResponseBodyBytes } from "@scheduling/domain/executions/Execution"
import type { Method, Operation, Parameter } from "../model.ts"
import { plainTextResponse, unavailableResponse } from "./pings.ts"

/**
 * Completion URLs are handled before the router and return plain text, so no endpoint declares
 * them.
 */
export const completionsTag = {
  name: "Completion URLs",
  description:
    "Where jobs that continue after their response report that they have finished. Their calls send the URL in " +
    "`Scheduling-Complete-Url`, if the task has a `completion`. The URL is the credential."
}

const token: Parameter = {
  name: "token",
  in: "path",
  required: true,
  description: "The last segment of the URL that the call sent. It identifies one attempt.",
  schema: {
    type: "string",
    pattern: "^[\\w-]{91}$",
    examples: ["AZqfPFse".repeat(11).padEnd(91, "0")]
  }
}

const responses = {
  200: plainTextResponse("The report is stored, now or by an earlier identical report.", "OK"),
  404: plainTextResponse("The service did not create this URL.", "not found"),
  409: plainTextResponse(
    "Another attempt has started, or an earlier report differs. Nothing was changed.",
    "too late: another attempt has begun"
  ),
  410: plainTextResponse(
    "The attempt has already timed out or been cancelled. Nothing was changed.",
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
    description: `${description} Needs no credential except the URL.`,
    security: [],
    "x-access": "public",
    parameters: [token],
    requestBody: {
      required: false,
      content: { "text/plain": { schema: { type: "string" }, example } }
    },
    responses: { ...responses, ...more, 503: unavailableResponse },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "curl",
        source: `curl -fsS -m 10 --retry 5 -d "${example}" "$COMPLETE_URL${path}"`
      }
    ]
  } satisfies Operation
})

const keptBody = `The first ${maxResponseBodyBytes} bytes of the body are stored as the response of the attempt.`

export const completionPaths: Readonly<
  Record<string, Readonly<Partial<Record<Method, Operation>>>>
> = {
  "/complete/{token}": said(
    { id: "complete", path: "", summary: "Report that the job has succeeded" },
    `Ends the attempt as a success. ${keptBody} Later steps of a chain may use it.`,
    "42 files copied"
  ),
  "/complete/{token}/fail": said(
    { id: "fail", path: "/fail", summary: "Report that the job has failed" },
    `Ends the attempt as a failure, which is retried according to the task. ${keptBody}`,
    "the disk is full"
  ),
  "/complete/{token}/log": said(
    { id: "log", path: "/log", summary: "Report progress of the job" },
    `The first line of the body, truncated to ${maxProgressLineBytes} bytes, appears in the \`progress\` of the execution.`,
    "half of it is done",
    {
      429: plainTextResponse(
        "More than 60 lines in a minute.",
        "too many progress lines: at most 60 per minute"
      )
    }
  )
}
