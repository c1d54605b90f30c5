import { assert, describe, it } from "@effect/vitest"
import { type JsonSchema, Schema, SchemaRepresentation } from "effect"
import { notificationKinds } from "@scheduling/domain/notifications/NotificationChannel"
import manifest from "../package.json" with { type: "json" }
import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "../src/OpenApiDocument.ts"
import { bodySchemas, endpointsOf, holdsSecret } from "../src/contract/endpoints.ts"
import type { Header, Operation, Reference, Response } from "../src/model.ts"
import { isSchema } from "../src/schemas/rewriting.ts"
import { namedSchemas } from "../src/contract/syntax.ts"
import { webhookHeaderNames } from "@scheduling/domain/webhooks/StandardWebhooks"

const document = openApiDocument(Api)
const endpoints = endpointsOf(Api)
const { headers, responses, schemas } = document.components

const everything = Object.values(document.paths).flatMap((path) => Object.values(path))
const isTrigger = ({ operationId }: Operation) => operationId.startsWith("triggers.")
const isPing = ({ operationId }: Operation) => operationId.startsWith("pings.")
const isCallback = ({ operationId }: Operation) => operationId.startsWith("completions.")
const isEcho = ({ operationId }: Operation) => operationId.endsWith("Echo")
const isToken = ({ operationId }: Operation) => operationId === "serviceAccounts.token"
const operations = everything.filter(
  (one) => !isPing(one) && !isTrigger(one) && !isCallback(one) && !isEcho(one) && !isToken(one)
)
const pings = everything.filter(isPing)
const callbacks = everything.filter(isCallback)

const operation = (id: string): Operation => {
  const found = operations.find(({ operationId }) => operationId === id)
  assert(found, `no operation ${id}`)
  return found
}

const resolve = (response: Response | Reference | undefined): Response => {
  assert(response)
  if (!("$ref" in response)) return response
  const shared = responses[response.$ref.replace("#/components/responses/", "")]
  assert(shared, response.$ref)
  return shared
}

const asksProvider = new Set(
  ["checkout", "portal", "change", "cancel", "resume", "listInvoices"].map(
    (what) => `billing.${what}`
  )
)

const codes = (id: string, status: number): ReadonlyArray<string> => {
  const response = operation(id).responses[status]
  if (response === undefined) return []
  return Object.keys(resolve(response).content?.["application/json"]?.examples ?? {})
}

const headerNames = (response: Response | Reference) => Object.keys(resolve(response).headers)

/**
 * Returns true for the parts of a schema that mean "one of these fields" or "not both". Effect
 * cannot read them, and the server checks these rules with its own schemas.
 */
const isChoiceOfFields = (holder: object, key: string, value: unknown) =>
  (key === "oneOf" || key === "not" || (key === "anyOf" && "properties" in holder)) &&
  [value]
    .flat()
    .every(
      (one) => isSchema(one) && Array.isArray(one.required) && !("additionalProperties" in one)
    )

/**
 * Returns the names of the schemas to which a part of the document refers, directly or indirectly.
 */
const usedBy = (part: unknown, found = new Set<string>()): ReadonlySet<string> => {
  for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue
    found.add(name)
    usedBy(schemas[name], found)
  }
  return found
}

/**
 * Creates a validator for one of the document's schemas, from the document alone, as a client
 * would.
 */
const validator = (schema: JsonSchema.JsonSchema) => {
  const used = [...usedBy(schema)].map((name) => [name, schemas[name]])
  const text = JSON.stringify({ schema, definitions: Object.fromEntries(used) })
  const local = JSON.parse(
    text.replaceAll("#/components/schemas/", "#/$defs/"),
    function (this: object, key, value: unknown) {
      return isChoiceOfFields(this, key, value) ? undefined : value
    }
  )
  return Schema.decodeUnknownSync(
    SchemaRepresentation.fromJsonSchemaDocument(
      { dialect: "draft-2020-12", ...local },
      { patterns: "apply" }
    ) as Schema.Codec<unknown>,
    { onExcessProperty: "error", errors: "all" }
  )
}

/** Returns every schema with examples in a part of the document, and every example body. */
const examplesIn = (
  part: unknown,
  path = "#"
): ReadonlyArray<readonly [string, JsonSchema.JsonSchema, unknown]> => {
  if (Array.isArray(part)) return part.flatMap((one, index) => examplesIn(one, `${path}/${index}`))
  if (!isSchema(part)) return []
  const { example, examples, ...rest } = part
  const own = Array.isArray(examples) ? examples.map((one) => [path, part, one] as const) : []
  const named = isSchema(examples) && isSchema(part.schema) ? Object.values(examples) : []
  const bodies = [
    ...named.map((one) => (isSchema(one) ? one.value : one)),
    ...(example === undefined ? [] : [example])
  ]
  const shown = isSchema(part.schema) ? part.schema : {}
  return [
    ...own,
    ...bodies.map((one) => [path, shown, one] as const),
    ...Object.entries(rest).flatMap(([key, one]) => examplesIn(one, `${path}/${key}`))
  ]
}

describe("examples", () => {
  it("has the version of the packages", () => {
    assert.strictEqual(document.info.version, manifest.version)
  })

  it("are there for every component and every request body", () => {
    const bare = Object.entries(schemas).filter(([, schema]) => schema.examples === undefined)
    assert.deepStrictEqual(
      bare.map(([name]) => name),
      []
    )
    for (const { operationId, requestBody } of operations) {
      if (requestBody === undefined) continue
      assert.isDefined(requestBody.content["application/json"]?.example, operationId)
    }
  })

  it("match the schemas that the document gives for them, and each text has one of its own", () => {
    const all = examplesIn(document)
    assert.isAbove(all.length, 200)
    for (const [path, schema, example] of all) {
      assert.notInclude(JSON.stringify(example), '"string"', path)
      assert.doesNotThrow(
        () => validator(schema)(example),
        undefined,
        undefined,
        `${path} ${JSON.stringify(example)}`
      )
    }
  })

  it("are accepted by the schemas that the server decodes with", () => {
    const named = namedSchemas(bodySchemas(Api))
    assert.isAbove(named.size, 20)
    for (const [name, schema] of named) {
      const decode = Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })
      const examples = schemas[name]?.examples
      assert(Array.isArray(examples), name)
      for (const example of examples)
        assert.doesNotThrow(() => decode(example), undefined, undefined, name)
    }
  })

  it("of errors carry the code and the real message", () => {
    const request_id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
    assert.deepStrictEqual(schemas.QuotaExceededError?.examples, [
      {
        detail: {
          error: "quota_exceeded",
          message:
            'The plan "self_hosted" allows at most 100 active API keys. The limit has been reached.',
          quota: "active_api_keys",
          limit: 100,
          plan: "self_hosted"
        },
        request_id
      }
    ])
    const forbidden = resolve(operation("cron.create").responses[403]).content?.["application/json"]
    assert.deepStrictEqual(forbidden?.examples?.insufficient_scope?.value, {
      detail: {
        error: "insufficient_scope",
        message: "This API key lacks the scope tasks:read.",
        required_scope: "tasks:read"
      },
      request_id
    })
  })
})

describe("access", () => {
  it("is said of every operation as its endpoint declares it", () => {
    assert.strictEqual(operations.length, endpoints.length)
    for (const { access, name } of endpoints) {
      const { description, security, "x-access": kind, "x-required-scope": scope } = operation(name)
      assert.strictEqual(kind, access.kind, name)
      assert.strictEqual(scope, access.kind === "scope" ? access.scope : undefined, name)
      assert.deepStrictEqual(security, access.kind === "public" ? [] : [{ bearer: [] }], name)
      assert.match(description, /\n\nNeeds (an access token|no credential)/, name)
    }
  })
})

describe("operations that only the panel needs", () => {
  it("are marked and say that they are not promised", () => {
    const internal = operations.filter((one) => one["x-internal"] === true)
    assert.deepStrictEqual(internal.map(({ operationId }) => operationId).toSorted(), [
      "activity.failing",
      "activity.names",
      "activity.recent",
      "activity.timeline",
      "activity.upcoming",
      "chains.stepRequest",
      "invitations.preview"
    ])
    for (const { description } of internal)
      assert.include(description, "Only for the control panel")
  })
})

describe("responses", () => {
  it("hold the rejections that the access of an endpoint can lead to, and no others", () => {
    assert.deepStrictEqual(codes("auth.login", 401), [
      "invalid_api_key",
      "invalid_credentials",
      "totp_required",
      "invalid_code"
    ])
    assert.deepStrictEqual(codes("auth.login", 403), [
      "jwt_only",
      "origin_refused",
      "password_login_off"
    ])
    assert.deepStrictEqual(codes("auth.getMe", 401), [
      "missing_credentials",
      "invalid_token",
      "invalid_api_key"
    ])
    assert.deepStrictEqual(codes("auth.getMe", 403), ["jwt_only", "person_only"])
    assert.deepStrictEqual(codes("apiKeys.list", 403), ["jwt_only", "forbidden"])
    assert.deepStrictEqual(codes("workspaces.get", 403), [
      "insufficient_scope",
      "workspace_forbidden"
    ])
    assert.deepStrictEqual(codes("workspaces.whoami", 403), [])
    assert.deepStrictEqual(codes("cron.listAll", 403), ["insufficient_scope"])
    assert.deepStrictEqual(codes("cron.listAll", 404), [])
    assert.deepStrictEqual(codes("system.health", 401), [])
  })

  it("include errors of bodies where one is read, and everywhere that of unknown input", () => {
    for (const { method, name, params, payloads } of endpoints) {
      const isRead = method !== "get"
      assert.strictEqual(codes(name, 400).includes("malformed_json"), isRead, name)
      assert.strictEqual(codes(name, 413).includes("payload_too_large"), isRead, name)
      assert.strictEqual(
        codes(name, 415).includes("unsupported_media_type"),
        payloads.length > 0,
        name
      )
      assert.include(codes(name, 422), "validation_failed", name)
      if (params.length > 0) assert.include(codes(name, 404), "not_found", name)
      assert.deepStrictEqual(codes(name, 500), ["internal_error"], name)
      const more =
        name === "system.ready"
          ? ["degraded"]
          : asksProvider.has(name)
            ? ["billing_unavailable"]
            : []
      assert.sameMembers([...codes(name, 503)], ["unavailable", ...more], name)
    }
  })

  it("name the headers that come with them", () => {
    for (const { operationId, responses: all } of operations) {
      for (const [status, response] of Object.entries(all)) {
        const names = headerNames(response)
        assert.include(names, "x-request-id", operationId)
        assert.strictEqual(
          names.includes("Retry-After"),
          status === "429" ||
            status === "503" ||
            (status === "409" && codes(operationId, 409).includes("idempotency_in_progress")),
          operationId
        )
        if (status === "401") assert.include(names, "WWW-Authenticate", operationId)
        assert.strictEqual(names.includes("Location"), status === "201", operationId)
      }
    }
    assert.include(
      headerNames(operation("workspaces.get").responses[403] ?? { $ref: "" }),
      "WWW-Authenticate"
    )
    assert.notInclude(
      headerNames(operation("auth.getMe").responses[403] ?? { $ref: "" }),
      "WWW-Authenticate"
    )
  })

  it("contain no secret where a repeated request gets the first response again", () => {
    const repeated = operations.filter(({ parameters }) =>
      parameters.some(({ name }) => name.toLowerCase() === "idempotency-key")
    )
    assert.isAbove(repeated.length, 5)
    const secret = endpoints
      .filter(({ successes }) => successes.some(holdsSecret))
      .map(({ name }) => name)
    for (const { operationId } of repeated) assert.notInclude(secret, operationId)
  })

  it("say no-store exactly if the response contains a secret", () => {
    const secret = endpoints
      .filter(({ successes }) => successes.some(holdsSecret))
      .map(({ name }) => name)
    for (const name of [
      "apiKeys.create",
      "apiKeys.rotate",
      "auth.login",
      "auth.refresh",
      "workspaces.getSigningSecrets"
    ]) {
      assert.include(secret, name)
    }
    assert.notInclude(secret, "apiKeys.list")
    for (const { operationId, responses: all } of operations) {
      const stored = Object.values(all).every(
        (response) => !headerNames(response).includes("Cache-Control")
      )
      assert.strictEqual(!stored, secret.includes(operationId), operationId)
    }
  })
})

describe("schemas", () => {
  it("give numbers of the query as numbers, with their bounds", () => {
    const limit = operation("apiKeys.list").parameters.find(({ name }) => name === "limit")
    assert.deepStrictEqual(limit, {
      name: "limit",
      in: "query",
      required: false,
      description: "The maximum number of records per page.",
      schema: { type: "integer", default: 20, minimum: 1, maximum: 100 }
    })
  })

  it("carry the lengths of text that is trimmed or kept secret", () => {
    const properties = schemas.Registration?.properties
    assert(isSchema(properties) && isSchema(properties.name) && isSchema(properties.password))
    assert.strictEqual(properties.name.maxLength, 100)
    assert.strictEqual(properties.password.minLength, 12)
    assert.strictEqual(properties.password.format, "password")
  })

  it("are closed in requests and open in responses", () => {
    assert.strictEqual(schemas.ApiKeyInput?.additionalProperties, false)
    assert.isUndefined(schemas.ApiKey?.additionalProperties)
    assert.isUndefined(schemas.NotFoundError?.additionalProperties)
  })

  it("have clean names in the order of the alphabet, and each is used", () => {
    const names = Object.keys(schemas)
    assert.deepStrictEqual(names, [...names].toSorted())
    assert.deepStrictEqual(
      names.filter((name) => /Encoded$|_\d+$/.test(name)),
      []
    )
    const text = JSON.stringify(document)
    const targets = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, target]) => target)
    )
    const kept = Object.entries({ headers, responses, schemas } satisfies Record<
      string,
      Record<string, Header | object>
    >).flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`))
    assert.deepStrictEqual([...targets].toSorted(), kept.toSorted())
  })
})

describe("the document", () => {
  it("is the same each time it is made", () => {
    assert.deepStrictEqual(openApiDocument(Api), document)
  })

  it("names the server that it is made for", () => {
    assert.deepStrictEqual(openApiDocument(Api, { url: "/" }).servers, [{ url: "/" }])
  })
})

describe("code samples", () => {
  it("show each operation by the SDK and by curl, with its own body", () => {
    for (const operation of operations) {
      const [typescript, curl] = operation["x-codeSamples"]
      assert.include(typescript?.source, `client.${operation.operationId}(`)
      const example = operation.requestBody?.content["application/json"]?.example
      const sent = /-d '([^]*)'$/.exec(curl?.source ?? "")?.[1]?.replaceAll("'\\''", "'")
      assert.deepStrictEqual(sent === undefined ? undefined : JSON.parse(sent), example)
    }
  })
})

describe("pings", () => {
  it("are in the document with their signals, although no endpoint declares them", () => {
    assert.deepStrictEqual(
      Object.keys(document.paths).filter((path) => path.startsWith("/ping")),
      ["/ping/{ping_id}", "/ping/{ping_id}/{signal}", "/ping/{ping_key}/{key}/{signal}"]
    )
    assert.lengthOf(new Set(pings.map(({ operationId }) => operationId)), 9)
    for (const { operationId, responses: all, security } of pings) {
      assert.deepStrictEqual(security, [], operationId)
      const byKey = operationId.endsWith("ByKey") ? ["201", "429"] : []
      const statuses = ["200", "400", "404", "503", ...byKey].toSorted()
      assert.deepStrictEqual(Object.keys(all), statuses, operationId)
    }
    const signal = pings[3]?.parameters[1]?.schema.pattern
    assert(typeof signal === "string")
    for (const known of ["start", "fail", "log", "0", "9", "137", "255"]) {
      assert.match(known, new RegExp(signal))
    }
    for (const unknown of ["", "stop", "256", "00", "-1"]) {
      assert.notMatch(unknown, new RegExp(signal))
    }
  })
})

describe("trigger URLs", () => {
  it("are in the document, although no endpoint declares them", () => {
    const post = document.paths["/trigger/{token}"]?.post
    assert.deepStrictEqual(post?.security, [])
    assert.deepStrictEqual(Object.keys(post?.responses ?? {}), ["202", "402", "415", "503"])
  })
})

describe("the echo", () => {
  it("is in the document, although no endpoint declares it", () => {
    const { get, post } = document.paths["/v1/echo"] ?? {}
    for (const one of [get, post]) {
      assert.deepStrictEqual(one?.security, [])
      assert.deepStrictEqual(one?.tags, ["System"])
    }
    assert.isUndefined(get?.requestBody)
    assert.isDefined(post?.requestBody)
  })
})

describe("the token endpoint", () => {
  it("is in the document with the form and the errors of RFC 6749", () => {
    const post = document.paths["/v1/auth/token"]?.post
    assert(post)
    assert.deepStrictEqual(post.security, [])
    const form = post.requestBody?.content["application/x-www-form-urlencoded"]
    assert.doesNotThrow(() => validator(form?.schema ?? {})(form?.example))
    for (const [status, more] of [
      [400, []],
      [401, ["WWW-Authenticate"]],
      [429, ["Retry-After"]]
    ] as const) {
      const response = resolve(post.responses[status])
      assert.includeMembers([...headerNames(response)], ["Cache-Control", ...more])
      assert.deepStrictEqual(response.content?.["application/json"]?.schema, {
        $ref: "#/components/schemas/TokenError"
      })
    }
  })
})

describe("call-backs of jobs", () => {
  it("are in the document, although no endpoint declares them", () => {
    const ids = callbacks.map(({ operationId }) => operationId)
    assert.deepStrictEqual(ids, ["completions.complete", "completions.fail", "completions.log"])
    for (const { operationId, responses: all, security } of callbacks) {
      assert.deepStrictEqual(security, [], operationId)
      const more = operationId === "completions.log" ? ["429"] : []
      assert.deepStrictEqual(
        Object.keys(all),
        ["200", "404", "409", "410", ...more, "503"],
        operationId
      )
    }
  })
})

describe("webhooks", () => {
  it("name the headers that a call is signed with", () => {
    const names = document.webhooks["taskCall"]?.post.parameters.map(({ name }) => name)
    assert.includeMembers([...(names ?? [])], Object.values(webhookHeaderNames))
  })
})

describe("the fields of a PATCH", () => {
  const patches = [
    ...new Set(
      Object.values(document.paths).flatMap(({ patch }) =>
        Object.values(patch?.requestBody?.content ?? {}).map(
          ({ schema }) => String(schema.$ref).split("/").at(-1) ?? ""
        )
      )
    )
  ]
  const fields = patches.flatMap((name) =>
    Object.entries(Object(schemas[name]?.["properties"])).map(
      ([field, schema]) => [`${name}.${field}`, Object(schema)] as const
    )
  )
  /**
   * Returns a field's schema and the schemas that it is composed of, except the fields of objects.
   */
  const partsOf = (schema: JsonSchema.JsonSchema): ReadonlyArray<JsonSchema.JsonSchema> => {
    const name =
      String(schema.$ref ?? "")
        .split("/")
        .at(-1) ?? ""
    const inner = [schema.anyOf, schema.oneOf, schemas[name]].flat().filter(isSchema)
    return [schema, ...inner.flatMap(partsOf)]
  }

  it("say nothing of what holds when a create leaves them out", () => {
    assert.isAbove(fields.length, 100)
    for (const [name, schema] of fields) {
      for (const { default: given, description = "" } of partsOf(schema)) {
        assert.isUndefined(given, name)
        assert.notMatch(String(description), /when absent|absent or null/i, name)
      }
    }
  })

  it("say what null does, where they take it", () => {
    for (const [name, schema] of fields) {
      const [{ description = "" } = {}] = partsOf(schema)
      const types = new Set(partsOf(schema).flatMap(({ type }) => [type].flat()))
      if (types.has("null")) assert.match(String(description), /\bnull\b/i, name)
    }
  })

  it("keep what a create says", () => {
    const { overlap, retry_count } = Object(schemas["CronTaskInput"]?.["properties"])
    assert.match(overlap.description, /`skip` when absent\.$/)
    assert.match(retry_count.description, /0 when absent\.$/)
  })
})

describe("descriptions", () => {
  /** Returns the fields in a part of the document with their locations. */
  const fieldsIn = (part: unknown, at: string): ReadonlyArray<readonly [string, unknown]> => {
    if (Array.isArray(part)) return part.flatMap((one, index) => fieldsIn(one, `${at}[${index}]`))
    if (!isSchema(part)) return []
    return Object.entries(part).flatMap(([key, value]) => {
      if (["example", "examples", "default", "enum", "not"].includes(key)) return []
      const own =
        key === "properties" && isSchema(value)
          ? Object.entries(value).map(([name, field]) => [`${at}.${name}`, field] as const)
          : []
      return [...own, ...fieldsIn(value, key === "properties" ? at : `${at}.${key}`)]
    })
  }

  const isDescribed = (part: unknown): boolean => {
    if (!isSchema(part)) return false
    const name = typeof part.$ref === "string" ? part.$ref.split("/").at(-1) : undefined
    const described = part.description ?? schemas[name ?? ""]?.description
    return typeof described === "string" && /^\S.*[.:]$/s.test(described.trim())
  }

  it("describe every field", () => {
    const fields = [
      ...Object.entries(schemas).flatMap(([name, schema]) => fieldsIn(schema, name)),
      ...fieldsIn(document.paths, "paths")
    ]
    assert.isAbove(fields.length, 300)
    assert.deepStrictEqual(
      fields.filter(([, field]) => !isDescribed(field)).map(([at]) => at),
      []
    )
  })

  it("describe every parameter", () => {
    const silent = operations.flatMap(({ operationId, parameters }) =>
      parameters.filter(({ description }) => !description).map(({ name }) => [operationId, name])
    )
    assert.deepStrictEqual(silent, [])
  })
})

describe("unions", () => {
  const mappingOf = (name: string) => Object(schemas[name]?.discriminator).mapping

  it("name the field that distinguishes their members", () => {
    for (const [name, field] of [
      ["LiveEvent", "type"],
      ["SingleEvent", "type"],
      ["WebhookEvent", "type"],
      ["NotificationChannelInput", "kind"],
      ["WhoAmI", "kind"]
    ] as const) {
      const { oneOf, discriminator } = Object(schemas[name])
      assert.strictEqual(discriminator.propertyName, field, name)
      const members = new Set(oneOf.map(({ $ref }: { readonly $ref: string }) => $ref))
      assert.deepStrictEqual(new Set(Object.values(discriminator.mapping)), members, name)
    }
    const event = "#/components/schemas/IncidentEvent"
    assert.strictEqual(mappingOf("WebhookEvent")["incident.opened"], event)
    assert.strictEqual(mappingOf("LiveEvent")["incident.closed"], event)
  })

  it("have a component for each kind of channel, with the fields of all channels", () => {
    assert.deepStrictEqual(Object.keys(mappingOf("NotificationChannelInput")), [
      ...notificationKinds
    ])
    const { properties, required } = Object(schemas.GoogleChatChannelInput)
    assert.deepStrictEqual(properties.kind.enum, ["google_chat"])
    assert.includeMembers(Object.keys(properties), ["name", "tags", "config", "paused", "key"])
    assert.includeMembers(required, ["name", "kind", "config"])
  })
})
