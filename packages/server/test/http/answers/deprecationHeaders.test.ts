import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Access } from "@scheduling/domain/shared/Access"
import { Deprecated } from "@scheduling/domain/shared/Deprecated"
import { docs } from "@scheduling/domain/shared/docs"
import { NotFound } from "@scheduling/domain/shared/Errors"
import { ErrorShape } from "@scheduling/domain/shared/ErrorShape"
import { publishedDocument } from "@scheduling/openapi/publishedDocument"
import { Effect, Layer, Schema } from "effect"
import { HttpClient, HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ErrorShapeLayer } from "../../../src/http/answers/Errors.ts"

const instead = "Use `things.list`."

const Thing = Schema.Struct({
  name: Schema.String.annotate({ description: "The name.", examples: ["one"] }),
  title: Schema.String.annotate({
    description: "The same as `name`.",
    deprecated: true,
    examples: ["one"]
  })
}).annotate({ identifier: "Thing" })

const get = <Name extends string>(name: Name) =>
  HttpApiEndpoint.get(name, `/${name}`, { success: Thing, error: NotFound })
    .annotate(Access, Access.public)
    .annotateMerge(docs("Get a thing", "Returns it."))

const api = HttpApi.make("things")
  .add(
    HttpApiGroup.make("things").add(
      get("kept"),
      get("old").annotate(Deprecated, Deprecated.since("2027-01-01", { instead })),
      get("ending").annotate(
        Deprecated,
        Deprecated.since("2027-01-01", { instead, sunset: "2028-01-01" })
      ),
      get("missing").annotate(Deprecated, Deprecated.since("2027-01-01", { instead }))
    )
  )
  .middleware(ErrorShape)

const thing = Effect.succeed({ name: "one", title: "one" })

const app = HttpRouter.serve(
  HttpApiBuilder.layer(api).pipe(
    Layer.provide(
      HttpApiBuilder.group(api, "things", (handlers) =>
        handlers.handleAll({
          kept: () => thing,
          old: () => thing,
          ending: () => thing,
          missing: () => Effect.fail(new NotFound({ resource: "task" }))
        })
      )
    ),
    Layer.provide(ErrorShapeLayer)
  ),
  { disableLogger: true }
).pipe(Layer.provideMerge(NodeHttpServer.layerTest))

const announced = Effect.fnUntraced(function* (path: string) {
  const { headers, status } = yield* HttpClient.get(path)
  const { deprecation, link, sunset } = headers
  return { status, deprecation, link, sunset }
})

const link = '</docs>; rel="deprecation"; type="text/html"'

describe("A deprecated endpoint", () => {
  it.effect("announces its end in the headers of each response", () =>
    Effect.gen(function* () {
      const none = { deprecation: undefined, link: undefined, sunset: undefined }
      const old = { deprecation: "@1798761600", link, sunset: undefined }
      assert.deepStrictEqual(yield* announced("/kept"), { status: 200, ...none })
      assert.deepStrictEqual(yield* announced("/old"), { status: 200, ...old })
      assert.deepStrictEqual(yield* announced("/missing"), { status: 404, ...old })
      assert.deepStrictEqual(yield* announced("/ending"), {
        status: 200,
        ...old,
        sunset: "Sat, 01 Jan 2028 00:00:00 GMT"
      })
    }).pipe(Effect.provide(app))
  )

  it("is marked in the OpenAPI document, as are the fields that will go", () => {
    const { components, paths } = publishedDocument(api)
    const { ending, kept, old } = {
      ending: paths["/ending"]?.["get"],
      kept: paths["/kept"]?.["get"],
      old: paths["/old"]?.["get"]
    }
    assert.deepStrictEqual(
      [kept, old, ending].map((one) => one?.deprecated),
      [undefined, true, true]
    )
    assert.include(old?.description, "Deprecated since 2027-01-01. Use `things.list`.")
    assert.include(ending?.description, "may be removed from 2028-01-01 on")
    assert.containSubset(ending?.responses["200"], {
      headers: {
        Deprecation: { $ref: "#/components/headers/Deprecation" },
        Link: { $ref: "#/components/headers/Link" },
        Sunset: { $ref: "#/components/headers/Sunset" }
      }
    })
    assert.containSubset(components.schemas["Thing"]?.["properties"], {
      title: { deprecated: true }
    })
    assert.notProperty(Object(components.schemas["Thing"]?.["properties"]).name, "deprecated")
  })

  it("has at least twelve months until its sunset", () => {
    assert.throws(
      () => Deprecated.since("2027-01-01", { instead, sunset: "2027-12-31" }),
      /at least twelve months/
    )
  })
})
