/** The types of the part of `oidc-provider` that the tests use. The package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    readonly callback: () => (request: IncomingMessage, response: ServerResponse) => Promise<void>
    readonly interactionDetails: (
      request: IncomingMessage,
      response: ServerResponse
    ) => Promise<{ readonly prompt: { readonly name: string } }>
    readonly interactionFinished: (
      request: IncomingMessage,
      response: ServerResponse,
      result: object
    ) => Promise<void>
    readonly Grant: new (of: { readonly accountId: string; readonly clientId: string }) => {
      readonly addOIDCScope: (scope: string) => void
      readonly save: () => Promise<string>
    }
  }
}
