export { ApiPromise, type WithResponse } from "./ApiPromise.ts"
export { type ClientOptions, SchedulingClient } from "./Client.ts"
export {
  ApiError,
  ConnectionError,
  type ErrorAnswer,
  type ErrorDetail,
  SchedulingError,
  TimeoutError
} from "./errors.ts"
export * from "./generated/errors.ts"
export type * from "./generated/resources.ts"
export type * from "./generated/types.ts"
export type { Id } from "./Id.ts"
export type {
  ApiKeyCredential,
  Credential,
  Fetch,
  Idempotent,
  InWorkspace,
  NoCredential,
  PasswordCredential,
  RequestOptions,
  SessionListener,
  Settings,
  TokensCredential
} from "./options.ts"
export { Page, type PageQuery, PagePromise } from "./pagination.ts"
