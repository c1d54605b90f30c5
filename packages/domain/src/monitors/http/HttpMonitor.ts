import { Result, Schema, Struct } from "effect"
import {
  duplicateAuthorizationCheck,
  duplicateAuthorizationProblem,
  CallAuth,
  setsAuthorizationTwice
} from "../../calls/CallAuth.ts"
import { CallHeaders, CallHeadersUpdate, headersProblems } from "../../calls/CallHeaders.ts"
import {
  unsentBodyCheck,
  hasUnsentBody,
  StatusRange,
  unsentBodyProblem
} from "../../calls/CallOptions.ts"
import {
  isMaskedHeader,
  mask,
  maskWithoutStoredValueProblem
} from "../../calls/credentialHeaders.ts"
import { CallBodyInput, CallMethod } from "../../calls/HttpCall.ts"
import { hasBraces, parseTemplate, referencesOf } from "../../calls/Template.ts"
import { knownReferencesCheck, TemplateUrl } from "../../calls/TemplateCall.ts"
import { deriveOptions } from "../../shared/deriveOptions.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { patchFields } from "../../shared/requests/optionalWithDefault.ts"
import { text } from "../../shared/Text.ts"
import { type FieldProblem, filterIssue } from "../../shared/ValidationIssue.ts"
import { exampleOfCheck } from "../checks/Check.ts"
import { checkFields, checkSettings } from "../checks/checkFields.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"
import { parseJsonPath } from "./jsonPath.ts"

/** How many bytes of a response are searched for texts and values. */
export const maxSearchedBytes = 64 * 1024

const searched = text({ min: 1, max: 500 })

export const JsonPath = Schema.String.check(
  Schema.makeFilter((path) => parseJsonPath(path) !== undefined, {
    expected: 'a path such as status, data.items[0].state or $["odd key"]',
    toJsonSchema: () => ({ minLength: 1, maxLength: 200 })
  })
).annotate({
  description: "The path of the value: keys after dots, and indexes in brackets.",
  examples: ["checks[0].status"]
})

export const JsonRule = Schema.Struct({
  path: JsonPath,
  equals: Schema.Json.annotate({
    description: "The expected value, compared with its type.",
    examples: ["ok"]
  })
}).annotate({
  identifier: "JsonRule",
  examples: [{ path: "checks[0].status", equals: "ok" }]
})
export type JsonRule = typeof JsonRule.Type

const shownHeaders = Schema.Record(Schema.String, Schema.String).annotate({
  description: `The headers of the request. Values that look like credentials are shown as \`${mask}\`.`
})

/** The request and the expected response. */
const target = deriveOptions({
  method: { absent: "GET", input: CallMethod, shown: CallMethod, default: "GET" },
  headers: {
    absent: "None",
    input: CallHeaders.annotate({
      description:
        `At most 50. The values may use \`{{ secrets.NAME }}\`. A credential sent as \`${mask}\`, ` +
        "as responses show it, keeps the stored value."
    }),
    shown: shownHeaders,
    default: {}
  },
  body: {
    absent: "None",
    input: CallBodyInput.pipe(
      Schema.annotateEncoded({
        description:
          "A string, which is sent as is, or any other JSON value, which is sent as JSON. Not " +
          "allowed with GET and HEAD. It may use `{{ secrets.NAME }}`, `{{ now }}` and " +
          "`{{ uuid }}`.",
        examples: [{ query: "{ __typename }" }]
      })
    ),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The request body. Null if there is none."
    }),
    default: null
  },
  auth: {
    absent: "None",
    input: Schema.NullOr(CallAuth).annotate({
      description:
        "How the request authenticates, instead of with an `authorization` header. The secret " +
        "parts are references to secrets of the workspace."
    }),
    shown: Schema.NullOr(CallAuth).annotate({
      description: "How the request authenticates. Null if it only uses its headers."
    }),
    default: null
  },
  follow_redirects: {
    absent: "true",
    input: Schema.Boolean.annotate({
      description:
        "Whether GET and HEAD requests follow redirects (up to 10). Requests to another origin omit " +
        "`headers` and `auth`. The rules apply to the last response."
    }),
    shown: Schema.Boolean.annotate({
      description: "Whether GET and HEAD requests follow redirects."
    }),
    default: true
  },
  success_codes: {
    absent: "200-299",
    input: Schema.NullOr(Schema.Array(StatusRange).check(Schema.isBetweenLength(1, 10))).annotate({
      description: "The status codes and ranges that count as success.",
      examples: [["200-299", "401"]]
    }),
    shown: Schema.NullOr(Schema.Array(Schema.String)).annotate({
      description: "The status codes that count as success. Null means 200-299."
    }),
    default: null
  },
  body_contains: {
    absent: "None",
    input: Schema.NullOr(searched).annotate({
      description: "The check fails unless the first 64 KiB of the response contain this text.",
      examples: ["Welcome"]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that the response must contain. Null if there is none."
    }),
    default: null
  },
  body_lacks: {
    absent: "None",
    input: Schema.NullOr(searched).annotate({
      description: "The check fails if the first 64 KiB of the response contain this text.",
      examples: ["Fatal error"]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that the response must not contain. Null if there is none."
    }),
    default: null
  },
  body_json: {
    absent: "None",
    input: Schema.NullOr(JsonRule).annotate({
      description:
        "A value that the response must contain. The response must be JSON of at most 64 KiB."
    }),
    shown: Schema.NullOr(JsonRule).annotate({
      description: "The value that the JSON of the response must contain. Null if there is none."
    }),
    default: null
  },
  max_latency_ms: {
    absent: "None",
    input: Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60_000 }))
    ).annotate({
      description:
        "The maximum response time in milliseconds, from the name lookup to the end of the " +
        "response.",
      examples: [2_000]
    }),
    shown: Schema.NullOr(Schema.Int).annotate({
      description: "The maximum response time in milliseconds. Null if there is none."
    }),
    default: null
  },
  min_certificate_days: {
    absent: "None",
    input: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 365 }))).annotate(
      {
        description:
          "The minimum number of days for which the server's certificate must still be valid. " +
          "To be warned without going down, use an SSL monitor.",
        examples: [7]
      }
    ),
    shown: Schema.NullOr(Schema.Int).annotate({
      description:
        "The minimum number of days for which the certificate must still be valid. Null if it " +
        "only has to be valid now."
    }),
    default: null
  }
})

/** The default values of an HTTP monitor, without those of `httpTargetDefaults`. */
export const httpDefaults = { key: null, tags: [], ...checkSettings.defaults } as const
/** The default values of the fields that say what to check. */
export const httpTargetDefaults = target.defaults

const url = TemplateUrl.annotate({
  description:
    "The URL to request: `http` or `https`. The path and the query may use " +
    "`{{ secrets.NAME }}`, `{{ now }}` and `{{ uuid }}`.",
  examples: ["https://www.example.com/health"]
})

interface Referring {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | null
}

const checkRoots = new Set(["secrets", "now", "uuid"])

/** Rejects references to runs, tasks, inputs and steps, because a check has none of them. */
const usesOnlyValuesOfChecks = Schema.makeFilter<Referring>(
  ({ body, headers = {}, url: address }) =>
    [
      { path: ["url"], value: address },
      ...Object.entries(headers).map(([name, value]) => ({ path: ["headers", name], value })),
      { path: ["body"], value: body }
    ].flatMap(({ path, value }) => {
      if (value == null || !hasBraces(value)) return []
      const parsed = parseTemplate(value)
      const wrong = Result.isFailure(parsed)
        ? undefined
        : referencesOf(parsed.success).find(({ root }) => !checkRoots.has(root))
      return wrong === undefined
        ? []
        : [
            filterIssue({
              path,
              code: "invalid",
              problem: `refers to {{ ${wrong.text} }}, but a check has only secrets, now and uuid`
            })
          ]
    })
)

/** Rejects a body with GET, which is the default method, and with HEAD. */
const bodyFitsMethod = Schema.makeFilter<{
  readonly method?: string
  readonly body?: string | null
}>((given) =>
  hasUnsentBody({ method: "GET", ...given }) ? filterIssue(unsentBodyProblem) : undefined
)

/**
 * Returns the problem with a monitor's request, if any. A PATCH may contain only some fields of the
 * request, so its schema cannot check this.
 */
export const httpTargetProblem = ({
  auth,
  body,
  headers,
  method
}: {
  readonly auth: CallAuth | null
  readonly body: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
}): FieldProblem | undefined => {
  if (hasUnsentBody({ body, method })) return unsentBodyProblem
  if (setsAuthorizationTwice({ auth, headers })) return duplicateAuthorizationProblem
  const masked = Object.entries(headers).find(([name, value]) => isMaskedHeader(name, value))
  if (masked !== undefined) {
    return {
      path: ["headers", masked[0]],
      code: "invalid",
      problem: `${maskWithoutStoredValueProblem}, or leave the header out`
    }
  }
  const [problem] = headersProblems(headers)
  return problem && { ...problem, path: ["headers", ...problem.path] }
}

const fields = { ...monitorInput, url, ...target.input, ...checkSettings.input }

const exampleDefinition = {
  name: "Website",
  url: "https://www.example.com/health",
  body_contains: "ok",
  tags: ["web"]
}

const inputFields = { ...fields, ...keyInput, ...monitorPausedInput }

const namedHttpMonitorInput = Schema.Struct(inputFields)
  .check(bodyFitsMethod, duplicateAuthorizationCheck, knownReferencesCheck, usesOnlyValuesOfChecks)
  .annotate({ identifier: "HttpMonitorInput", examples: [exampleDefinition] })

/** An interface that gives the type a name, as for `ChainInputSchema`. */
export interface HttpMonitorInputSchema extends NamedHttpMonitorInput {}
type NamedHttpMonitorInput = typeof namedHttpMonitorInput
export const HttpMonitorInput: HttpMonitorInputSchema = namedHttpMonitorInput
export type HttpMonitorInput = typeof HttpMonitorInput.Type

const namedHttpMonitorUpdate = Schema.Struct(patchFields(inputFields))
  .mapFields(
    Struct.assign({
      ...versionInput,
      headers: Schema.optionalKey(CallHeadersUpdate)
    })
  )
  .check(unsentBodyCheck, duplicateAuthorizationCheck, knownReferencesCheck, usesOnlyValuesOfChecks)
  .annotate({
    identifier: "HttpMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values, and `headers` are merged. The target is checked " +
      "again. Changing the URL or method makes the monitor `new` again and closes its incident.",
    examples: [{ interval_seconds: 30 }]
  })

export interface HttpMonitorUpdateSchema extends NamedHttpMonitorUpdate {}
type NamedHttpMonitorUpdate = typeof namedHttpMonitorUpdate
export const HttpMonitorUpdate: HttpMonitorUpdateSchema = namedHttpMonitorUpdate
export type HttpMonitorUpdate = typeof HttpMonitorUpdate.Type

const namedHttpMonitor = Schema.Struct({
  ...monitorFields,
  url: Schema.String.annotate({ description: "The requested URL." }),
  ...target.fields,
  ...checkFields
}).annotate({
  identifier: "HttpMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      name: "Website",
      tags: ["web"],
      url: "https://www.example.com/health",
      ...target.defaults,
      body_contains: "ok",
      ...checkSettings.defaults,
      failures: 0,
      place_results: [],
      last_check: { at: "2026-01-31T09:30:00.000Z", ...exampleOfCheck }
    }
  ]
})

export interface HttpMonitorSchema extends NamedHttpMonitor {}
type NamedHttpMonitor = typeof namedHttpMonitor
export const HttpMonitor: HttpMonitorSchema = namedHttpMonitor
export type HttpMonitor = typeof HttpMonitor.Type

const namedHttpMonitorDefinition = Schema.Struct(
  putFields({ ...fields, ...monitorPausedInput, ...versionInput }, HttpMonitor)
)
  .check(bodyFitsMethod, duplicateAuthorizationCheck, knownReferencesCheck, usesOnlyValuesOfChecks)
  .annotate({
    identifier: "HttpMonitorDefinition",
    description:
      "An HTTP monitor whose key is in the path. Absent fields get their defaults. Fields that " +
      "only responses have are ignored.",
    examples: [exampleDefinition]
  })

export interface HttpMonitorDefinitionSchema extends NamedHttpMonitorDefinition {}
type NamedHttpMonitorDefinition = typeof namedHttpMonitorDefinition
export const HttpMonitorDefinition: HttpMonitorDefinitionSchema = namedHttpMonitorDefinition
export type HttpMonitorDefinition = typeof HttpMonitorDefinition.Type

export const HttpMonitorPage = ListPage("HttpMonitorPage", HttpMonitor)
