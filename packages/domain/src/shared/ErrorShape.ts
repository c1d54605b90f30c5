import { HttpApiMiddleware } from "effect/http-api"
import {
  InternalError,
  MalformedJson,
  OriginRefused,
  PayloadTooLarge,
  Unavailable,
  UnsupportedMediaType,
  ValidationFailed
} from "./Errors.ts"

/** Wraps every endpoint and turns all its failures into the one error shape. */
export class ErrorShape extends HttpApiMiddleware.Service<ErrorShape>()(
  "@scheduling/domain/shared/ErrorShape",
  {
    error: [
      OriginRefused,
      MalformedJson,
      PayloadTooLarge,
      UnsupportedMediaType,
      ValidationFailed,
      InternalError,
      Unavailable
    ]
  }
) {}
