import { headerReferences } from "../responses/headers.ts"
import type { Method, Operation } from "../model.ts"

const exampleOf = (method: "GET" | "POST") => ({
  method,
  headers: { host: "127.0.0.1:4000", "user-agent": "curl/8.14.1" },
  body: method === "POST" ? "Hello" : null
})

export const echoSchemas = {
  Echo: {
    type: "object",
    description: "The received request.",
    properties: {
      method: { type: "string", description: "`GET` or `POST`.", enum: ["GET", "POST"] },
      headers: {
        type: "object",
        description: "The headers, with names in lower case.",
        additionalProperties: { type: "string" }
      },
      body: {
        type: ["string", "null"],
        description: "The first 4,096 characters of the body. Null if there was none."
      }
    },
    required: ["method", "headers", "body"],
    additionalProperties: false,
    examples: [exampleOf("POST")]
  }
}

/** The contract does not declare the echo, so that the SDK does not include it. */
const echo = (method: "get" | "post") =>
  ({
    operationId: `system.${method}Echo`,
    tags: ["System"],
    summary: `Echo the request, by ${method.toUpperCase()}`,
    description:
      "Returns the request that it received, without credentials and headers added by proxies. A " +
      "task may call the echo of its own node, `http://127.0.0.1:4000/v1/echo`, to try the service without a " +
      "server. Needs no credential.",
    security: [],
    "x-access": "public",
    parameters: [],
    ...(method === "post" && {
      requestBody: {
        required: false,
        content: { "text/plain": { schema: { type: "string" }, example: "Hello" } }
      }
    }),
    responses: {
      200: {
        description: "The request.",
        headers: headerReferences([]),
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Echo" },
            example: exampleOf(method === "get" ? "GET" : "POST")
          }
        }
      },
      ...(method === "post" && {
        413: { $ref: "#/components/responses/PayloadTooLargeError" }
      })
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "curl",
        source: `curl ${method === "post" ? '-d "Hello" ' : ""}"$SCHEDULING_URL/v1/echo"`
      }
    ]
  }) satisfies Operation

export const echoPaths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>> = {
  "/v1/echo": { get: echo("get"), post: echo("post") }
}
