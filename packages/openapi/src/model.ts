import type { JsonSchema } from "effect"
import type { OpenApi } from "effect/http-api"
import type { AccessRule } from "@scheduling/domain/shared/Access"

type Schema = JsonSchema.JsonSchema

export interface Reference {
  readonly $ref: string
}

export interface Header {
  readonly description: string
  readonly schema: Schema
  readonly required?: boolean
}

export interface MediaType {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Header | Reference>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface Parameter {
  readonly name: string
  readonly in: OpenApi.OpenAPISpecParameter["in"]
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface CodeSample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly "x-access": AccessRule["kind"]
  readonly "x-required-scope"?: string
  readonly "x-required-scopes"?: ReadonlyArray<string>
  readonly "x-required-role"?: string
  /** For the control panel only, without compatibility guarantees. */
  readonly "x-internal"?: true
  readonly deprecated?: true
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, MediaType>>
  }
  readonly responses: Readonly<Record<string, Response | Reference>>
  readonly "x-codeSamples": ReadonlyArray<CodeSample>
}

/** A request that the service makes to a task's, step's, callback's or channel's URL. */
export interface Webhook {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
  readonly security: ReadonlyArray<never>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody: {
    readonly description: string
    readonly content: Readonly<Record<string, MediaType>>
  }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

export type Method = OpenApi.OpenAPISpecMethodName

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: OpenApi.OpenAPISpecInfo & { readonly contact: { readonly name: string } }
  readonly servers: ReadonlyArray<OpenApi.OpenAPISpecServer>
  readonly tags: ReadonlyArray<OpenApi.OpenAPISpecTag>
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, OpenApi.OpenAPISecurityScheme>>
  }
}
