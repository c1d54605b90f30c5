import { maxStoredPingBodyBytes } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import { headerReferences } from "../responses/headers.ts"
import type { Method, Operation, Parameter, Response } from "../model.ts"

/** Pings are handled before the router and return plain text, so no endpoint declares them. */
export const pingsTag = {
  name: "Pings",
  description:
    "How jobs report to their heartbeat monitors. The URL is the credential: the `ping_url` of a monitor, or " +
    "`/ping/{ping_key}/{key}` with the ping key of the workspace and the key of the monitor, followed by " +
    "nothing (success) or by a signal."
}

const monitorsUrl = "$PING_URL"

const pingId: Parameter = {
  name: "ping_id",
  in: "path",
  required: true,
  description: "The secret at the end of the monitor's `ping_url`.",
  schema: {
    type: "string",
    format: "uuid",
    examples: ["5f0c9d3e-8a41-4c1b-9a57-2f6d1e7b3c90"]
  }
}

const signal: Parameter = {
  name: "signal",
  in: "path",
  required: true,
  description:
    "`start`, `fail`, `log` (stored without effect on the status), or the exit status of the job: `0` means success.",
  schema: {
    type: "string",
    pattern: "^(?:start|fail|log|\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])$",
    examples: ["start"]
  }
}

const pingKey: Parameter = {
  name: "ping_key",
  in: "path",
  required: true,
  description: "The ping key of the workspace.",
  schema: { type: "string", examples: ["fqOOd6-F4MMNuCEnzTU01w"] }
}

const ownKey: Parameter = {
  name: "key",
  in: "path",
  required: true,
  description: "The key of the heartbeat.",
  schema: { type: "string", examples: ["backups:nightly"] }
}

const create: Parameter = {
  name: "create",
  in: "query",
  required: false,
  description:
    "With `1`, a heartbeat that does not exist is created: it expects a ping once a day, with an hour of grace.",
  schema: { type: "string", enum: ["1"] }
}

const rid: Parameter = {
  name: "rid",
  in: "query",
  required: false,
  description: "Identifies the run if runs overlap. Use the same value at the start and the end.",
  schema: {
    type: "string",
    format: "uuid",
    examples: ["0b6f7d52-1c1e-4a7d-8f0e-5f4f6f8b7a11"]
  }
}

export const plainTextResponse = (description: string, text: string): Response => ({
  description,
  headers: headerReferences([]),
  content: { "text/plain": { schema: { type: "string" }, example: `${text}\n` } }
})

/** The error response of endpoints that otherwise return plain text. */
export const unavailableResponse = { $ref: "#/components/responses/UnavailableError" }

const responses = {
  200: plainTextResponse("The ping is stored.", "OK"),
  400: plainTextResponse(
    "The `rid` is not a UUID, or the exit status is above 255.",
    "rid must be a UUID, and the exit status a number from 0 to 255"
  ),
  404: plainTextResponse(
    "The URL does not exist, or no longer exists.",
    "this ping URL does not exist"
  )
}

const createdResponses = {
  201: plainTextResponse("The heartbeat is created, and the ping is stored.", "Created"),
  429: plainTextResponse(
    "The heartbeat was not created.",
    "no heartbeat was created: the plan allows no more monitors, or pings have created too many in the last minute"
  )
}

const withoutContent = ({ content: _content, ...response }: Response): Response => response

const pinged = (
  method: "get" | "head" | "post",
  path: string,
  parameters: Operation["parameters"]
) => {
  const isSignal = parameters.includes(signal)
  const isByKey = parameters.includes(pingKey)
  const all = isByKey ? { ...responses, ...createdResponses } : responses
  return {
    operationId: `pings.${method}${isSignal ? "Signal" : ""}${isByKey ? "ByKey" : ""}`,
    tags: [pingsTag.name],
    summary: `${isSignal ? "Report the state of a run" : "Report a success"}, by ${method.toUpperCase()}${isByKey ? ", with the ping key" : ""}`,
    description: `Sent by a job. ${
      method === "post"
        ? `The first ${maxStoredPingBodyBytes} bytes of the body are stored as the job's message.`
        : "The same as a POST without a body."
    } Needs no credential except the URL.`,
    security: [],
    "x-access": "public",
    parameters,
    ...(method === "post" && {
      requestBody: {
        required: false,
        content: { "text/plain": { schema: { type: "string" }, example: "42 files copied" } }
      }
    }),
    responses:
      method === "head"
        ? {
            ...Object.fromEntries(
              Object.entries(all).map(([status, one]) => [status, withoutContent(one)])
            ),
            503: unavailableResponse
          }
        : { ...all, 503: unavailableResponse },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "curl",
        source: `curl -fsS -m 10 --retry 5 ${method === "head" ? "-I " : method === "post" ? '-d "42 files copied" ' : ""}"${monitorsUrl}${path}"`
      }
    ]
  } satisfies Operation
}

const methods = ["get", "head", "post"] as const

const allMethods = (path: string, parameters: Operation["parameters"]) =>
  Object.fromEntries(methods.map((method) => [method, pinged(method, path, parameters)]))

export const pingPaths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>> = {
  "/ping/{ping_id}": allMethods("", [pingId, rid]),
  "/ping/{ping_id}/{signal}": allMethods("/start", [pingId, signal, rid]),
  "/ping/{ping_key}/{key}/{signal}": allMethods("/start", [pingKey, ownKey, signal, create, rid])
}
