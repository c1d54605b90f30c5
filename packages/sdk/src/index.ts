export { ApiPromise, type WithResponse } from "./ApiPromise.ts"
export { type ClientOptions, type OtherSettings, SchedulingClient } from "./Client.ts"
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  type ErrorResponse,
  type ErrorResponseDetail,
  NoCredentialError,
  PermissionError,
  SchedulingError,
  ServerError,
  TimeoutError,
  WaitTimeoutError
} from "./errors.ts"
export * from "./generated/errors.ts"
export type * from "./generated/resources.ts"
export type { StreamOptions } from "./reading/events.ts"
export type { Id } from "./Id.ts"
export type {
  AccessTokenCredential,
  ApiKeyCredential,
  Credential,
  Fetch,
  Idempotent,
  Versioned,
  InWorkspace,
  Method,
  NoCredential,
  PasswordCredential,
  RawRequest,
  RequestOptions,
  ServiceAccountCredential,
  SessionListener,
  Settings,
  TokensCredential
} from "./options.ts"
export type { Logger, Observer, RequestEvent, ResponseEvent } from "./transport/observer.ts"
export type { PageQuery } from "./reading/PageQuery.ts"
export { type IterationLimit, Page, PagePromise } from "./reading/pagination.ts"
export type { WaitOptions } from "./reading/waiting.ts"
export * as webhooks from "./webhooks.ts"
