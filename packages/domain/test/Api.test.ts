import { assert, describe, it } from "@effect/vitest"
import { Context, Option, Schema, SchemaAST } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Api } from "@scheduling/domain/Api"
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { ApiKeysRefused, Authentication } from "@scheduling/domain/auth/Authentication"
import { CronTask } from "@scheduling/domain/cron/CronTask"
import { ExecutionPage } from "@scheduling/domain/executions/Execution"
import { Access } from "@scheduling/domain/shared/Access"
import { docs } from "@scheduling/domain/shared/docs"
import { NotFound } from "@scheduling/domain/shared/Errors"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { CronTaskId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Workspace } from "@scheduling/domain/workspaces/Workspace"
import { subschemas } from "@scheduling/openapi/contract/subschemas"

/** Lists an API's endpoints with the properties that they declare. */
const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) => {
  const endpoints: Array<ReturnType<typeof propertiesOf>> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: (options) => endpoints.push(propertiesOf(options))
  })
  return endpoints
}

type Options = Parameters<Parameters<typeof HttpApi.reflect>[1]["onEndpoint"]>[0]

const propertiesOf = ({ endpoint, errors, group, middleware, successes }: Options) => {
  const segments = endpoint.path.split("/").filter((segment) => segment !== "")
  const behind = new Set([...middleware].map(({ key }) => key))
  return {
    name: `${group.identifier}.${endpoint.identifier}`,
    method: endpoint.method,
    path: endpoint.path,
    segments,
    params: segments
      .filter((segment) => segment.startsWith(":"))
      .map((segment) => segment.slice(1)),
    schemaOfParams: endpoint.params,
    access: Option.getOrUndefined(Context.getOption(endpoint.annotations, Access)),
    summary: Option.getOrElse(Context.getOption(endpoint.annotations, OpenApi.Summary), () => ""),
    description: Option.getOrElse(
      Context.getOption(endpoint.annotations, OpenApi.Description),
      () => ""
    ),
    isBehind: (service: { readonly key: string }) => behind.has(service.key),
    payloads: [...endpoint.payload.values()].flatMap(({ schemas }) => schemas),
    successes: [...successes],
    isStream: [...endpoint.success].some((schema) => "contentType" in schema),
    errors: [...errors].flatMap(([status, schemas]) =>
      schemas.map((schema) => `${status} ${identifier(schema)}`)
    ),
    ownErrors: [...endpoint.error].map(identifier)
  }
}

type EndpointProperties = ReturnType<typeof propertiesOf>

const identifier = ({ ast }: Schema.Top) => SchemaAST.resolveIdentifier(ast)

const resources: Readonly<Record<string, string>> = {
  activity: "tasks",
  failing: "executions",
  recent: "executions",
  timeline: "executions",
  forecast: "tasks",
  search: "tasks",
  "status-pages": "monitors",
  chains: "tasks",
  cron: "tasks",
  "cron-tasks": "tasks",
  delayed: "tasks",
  executions: "executions",
  incidents: "monitors",
  escalations: "notifications",
  maintenance: "monitors",
  monitors: "monitors",
  notifications: "notifications",
  queues: "tasks",
  runs: "executions",
  workspaces: "workspace"
}

/**
 * The resource that each of the contract's records belongs to, for records that keys can read.
 * `LastRun` is not listed, because it is only a summary of an execution in its task, or of a task
 * in its execution.
 */
const tellsOf: Readonly<Record<string, string>> = {
  Execution: "executions",
  ExecutionDetail: "executions",
  ExecutionFigures: "executions",
  RecentRun: "executions",
  ChainRun: "executions",
  ChainRunDetail: "executions",
  TaskUptime: "executions",
  TaskBucket: "executions",
  CronTask: "tasks",
  DelayedTask: "tasks",
  Chain: "tasks",
  Queue: "tasks",
  UpcomingRun: "tasks",
  Monitor: "monitors",
  HeartbeatMonitor: "monitors",
  SslMonitor: "monitors",
  ProcessMonitor: "monitors",
  HttpMonitor: "monitors",
  TcpMonitor: "monitors",
  DnsMonitor: "monitors",
  HeartbeatEvent: "monitors",
  CheckEvent: "monitors",
  Incident: "monitors",
  IncidentDetail: "monitors",
  EscalationPolicy: "notifications",
  MaintenanceWindow: "monitors",
  NotificationChannel: "notifications",
  NotificationSettings: "notifications",
  NotificationDelivery: "notifications",
  NotificationDeliveryDetail: "notifications",
  Workspace: "workspace"
}

/**
 * A GET needs `:read` for the resource that it reads, and every other method needs `:write` for the
 * resource that it changes.
 */
const scopeOf = ({ method, segments }: EndpointProperties): string | undefined => {
  const verb = method === "GET" ? "read" : "write"
  // The event stream needs a scope for executions. All other `events` paths belong to a monitor.
  if (segments[3] === "events") return `executions:${verb}`
  // A task's success rate is computed from its executions, and a monitor's uptime belongs to the
  // monitor.
  if (["uptime", "series"].includes(segments.at(-1) ?? "") && segments[3] !== "monitors") {
    return `executions:${verb}`
  }
  // Rerunning or cancelling an execution needs the scope that can change its task.
  if (segments.at(-1) === "rerun" || segments.at(-1) === "cancel") return `tasks:${verb}`
  return segments
    .flatMap((segment) =>
      resources[segment] === undefined ? [] : [`${resources[segment]}:${verb}`]
    )
    .findLast((scope) => scopes.some((one) => one === scope))
}

const uuid = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const sampleOf: Readonly<Record<string, string>> = {
  name: "API_TOKEN",
  slug: "acme",
  version: "3"
}

const acceptsParams = (
  { params, schemaOfParams }: EndpointProperties,
  replaced: Record<string, string> = {}
) => {
  const samples = params.map((name) => [name, sampleOf[name] ?? uuid])
  const given = { ...Object.fromEntries(samples), ...replaced }
  if (schemaOfParams === undefined) return params.length === 0
  const decode = Schema.decodeUnknownOption(schemaOfParams as Schema.Codec<unknown>)
  return Option.isSome(decode(given, { onExcessProperty: "error" }))
}

const statuses = /^(400|401|402|403|404|409|412|413|415|422|429|500|503) [A-Z]\w+$/
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/
const snake = /^:[a-z]+(_[a-z]+)*$/

/**
 * The rules for all endpoints. The contract satisfies each rule, and the counterexample violates
 * it.
 */
const rules: Readonly<Record<string, (endpoint: EndpointProperties) => boolean>> = {
  "says who may call it": ({ access }) => access !== undefined,
  "has a summary": ({ summary }) => /^[A-Z].*[^.]$/.test(summary),
  "has a description of whole sentences": ({ description }) => /^[A-Z0-9].*\.$/s.test(description),
  "needs the scope that its method and its resource ask for": (endpoint) =>
    endpoint.access?.kind !== "scope" || endpoint.access.scope === scopeOf(endpoint),
  "lets a key read records of its scope only": ({ access, method, successes }) =>
    access?.kind !== "scope" ||
    method !== "GET" ||
    successes
      .flatMap(([, schemas]) => schemas.flatMap(({ ast }) => subschemas(ast)))
      .map((ast) => tellsOf[SchemaAST.resolveIdentifier(ast) ?? ""])
      .every((family) => family === undefined || access.scope === `${family}:read`),
  "refuses API keys where accounts, keys and workspaces are managed": ({
    access,
    method,
    segments
  }) => {
    const managed =
      segments[1] === "auth" ||
      (segments[1] === "workspaces" && segments.includes("api-keys")) ||
      (segments[1] === "workspaces" && segments.length <= 3 && method !== "GET")
    return (
      !managed || access?.kind === "jwt" || (segments[1] === "auth" && access?.kind === "public")
    )
  },
  "asks for a credential unless it is public": ({ access, isBehind }) =>
    isBehind(Authentication) === (access?.kind !== "public"),
  "tells API keys that they are refused where it is public under /v1/auth": ({
    access,
    isBehind,
    segments
  }) => access?.kind !== "public" || segments[1] !== "auth" || isBehind(ApiKeysRefused),
  "fails in the one error shape": ({ isBehind }) => isBehind(ErrorShape),
  "declares NotFound where a record of its path may be missing": ({ method, ownErrors, params }) =>
    params.every(
      (name) => name === "workspace_id" || name === "key" || (name === "name" && method === "PUT")
    ) || ownErrors.includes("NotFound"),
  "answers with one success, or with two if it makes or replaces": ({
    isStream,
    method,
    successes
  }) => {
    if (isStream) return successes.length === 0
    const [[status, schemas] = [0, []], ...others] = successes
    if (method === "PUT" && others.length === 1) return status === 200 && others[0]?.[0] === 201
    const body = schemas.some(({ ast }) => !HttpApiSchema.isNoContent(ast))
    return others.length === 0 && (body ? [200, 201, 202].includes(status) : status === 204)
  },
  "answers with errors of the contract": ({ errors }) =>
    errors.every((error) => statuses.test(error)),
  "declares the ids of its path": (endpoint) =>
    acceptsParams(endpoint) &&
    endpoint.params.every((name) => !acceptsParams(endpoint, { [name]: "../1" })),
  "names the workspace of its path workspace_id": ({ params, segments }) =>
    segments[1] !== "workspaces" ||
    segments.length === 2 ||
    (params[0] === "workspace_id" && segments[2] === ":workspace_id"),
  "names the schemas of its bodies": ({ payloads, successes }) =>
    [...payloads, ...successes.flatMap(([, schemas]) => schemas)].every(
      (schema) => HttpApiSchema.isNoContent(schema.ast) || identifier(schema) !== undefined
    ),
  "has a path of kebab-case nouns and snake_case ids": ({ path, segments }) =>
    path.startsWith("/v1/") &&
    segments.every((segment) => kebab.test(segment) || snake.test(segment))
}

const violations = (
  rule: (endpoint: EndpointProperties) => boolean,
  endpoints: ReadonlyArray<EndpointProperties>
) => endpoints.filter((endpoint) => !rule(endpoint)).map(({ name }) => name)

describe("every endpoint", () => {
  const endpoints = endpointsOf(Api)

  it.each(Object.entries(rules))("%s", (_name, rule) => {
    assert.isAbove(endpoints.length, 50)
    assert.deepStrictEqual(violations(rule, endpoints), [])
  })
})

it("knows every record by whose scope keys read it", () => {
  const named = new Set(
    endpointsOf(Api).flatMap(({ successes }) =>
      successes.flatMap(([, schemas]) =>
        schemas.flatMap(({ ast }) => subschemas(ast)).map(SchemaAST.resolveIdentifier)
      )
    )
  )
  assert.deepStrictEqual(
    Object.keys(tellsOf).filter((name) => !named.has(name)),
    []
  )
})

describe("every group", () => {
  it("has a title and a description", () => {
    HttpApi.reflect(Api, {
      onEndpoint: () => {},
      onGroup: ({ group }) => {
        assert.isTrue(
          Option.isSome(Context.getOption(group.annotations, OpenApi.Title)),
          group.identifier
        )
        assert.isTrue(
          Option.isSome(Context.getOption(group.annotations, OpenApi.Description)),
          group.identifier
        )
      }
    })
  })
})

const params = { workspace_id: WorkspaceId, task_id: CronTaskId }
const task = "/v1/workspaces/:workspace_id/cron/:task_id"
const readTasks = Access.scope("tasks:read")
const text = docs("Get a task", "What it is.")

const get = HttpApiEndpoint.get("get", task, { params, success: CronTask, error: NotFound })
const whole = get
  .annotate(Access, readTasks)
  .annotateMerge(text)
  .middleware(Authentication)
  .middleware(ErrorShape)
const asPublic = (path: "/v1/auth/x" | "/v1/x") =>
  HttpApiEndpoint.get("get", path, { success: Workspace })
    .annotate(Access, Access.public)
    .annotateMerge(text)

const at = (path: `/${string}`) =>
  HttpApiEndpoint.get("get", path, { params: { workspace_id: WorkspaceId }, success: Workspace })

const counterexamples: Readonly<Record<keyof typeof rules, HttpApiEndpoint.Constraint>> = {
  "says who may call it": get,
  "has a summary": get.annotateMerge(docs("", "What it is.")),
  "has a description of whole sentences": get.annotateMerge(docs("Get a task", "what it is")),
  "needs the scope that its method and its resource ask for": whole.annotate(
    Access,
    Access.scope("tasks:write")
  ),
  "lets a key read records of its scope only": HttpApiEndpoint.get("get", task, {
    params,
    success: ExecutionPage,
    error: NotFound
  }).annotate(Access, readTasks),
  "refuses API keys where accounts, keys and workspaces are managed": HttpApiEndpoint.delete(
    "x",
    "/v1/workspaces/:workspace_id",
    {
      params: { workspace_id: WorkspaceId }
    }
  ).annotate(Access, Access.scope("tasks:write")),
  "asks for a credential unless it is public": get.annotate(Access, readTasks),
  "tells API keys that they are refused where it is public under /v1/auth": asPublic("/v1/auth/x"),
  "fails in the one error shape": get,
  "declares NotFound where a record of its path may be missing": HttpApiEndpoint.get("get", task, {
    params,
    success: Workspace
  }),
  "answers with one success, or with two if it makes or replaces": HttpApiEndpoint.get(
    "get",
    task,
    {
      params,
      success: Workspace.pipe(HttpApiSchema.status(203))
    }
  ),
  "answers with errors of the contract": HttpApiEndpoint.get("get", task, {
    params,
    error: Schema.Struct({ oops: Schema.String }).annotate({ httpApiStatus: 418 })
  }),
  "declares the ids of its path": HttpApiEndpoint.get("get", task, {
    params: { workspace_id: WorkspaceId, task_id: Schema.String }
  }),
  "names the workspace of its path workspace_id": at("/v1/workspaces/:id/cron"),
  "names the schemas of its bodies": HttpApiEndpoint.get("get", task, {
    params,
    success: Schema.Struct({})
  }),
  "has a path of kebab-case nouns and snake_case ids": at("/v1/workspaces/:workspaceId/cronTasks")
}

describe("the rules", () => {
  const alone = (endpoint: HttpApiEndpoint.Constraint) =>
    endpointsOf(HttpApi.make("one").add(HttpApiGroup.make("one").add(endpoint)))

  it("pass an endpoint that is whole", () => {
    for (const rule of Object.values(rules))
      assert.deepStrictEqual(violations(rule, alone(whole)), [])
  })

  it.each(Object.entries(rules))("notice an endpoint that breaks: %s", (name, rule) => {
    const counterexample = counterexamples[name]
    assert(counterexample, "a rule without a counterexample may never fail")
    assert.strictEqual(violations(rule, alone(counterexample)).length, 1)
  })
})
