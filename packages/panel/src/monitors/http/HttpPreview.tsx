import { newCallValues } from "../../tasks/call/callValues.ts"
import { CallTester, callTestHindranceOf } from "../../tasks/call/CallTester.tsx"
import { CheckPreview } from "../checks/CheckPreview.tsx"
import { CheckTester } from "../checks/CheckTester.tsx"
import { parsePlaces } from "../checks/checkValues.ts"
import { httpInputOf, type HttpValues } from "./HttpFields.tsx"

/** Shows how the URL would be checked, and how it responds to the request in the form. */
export const HttpPreview = ({ values }: { readonly values: HttpValues }) => {
  // A test from the service would say nothing about a target in a worker's network.
  const place = values.places === null ? undefined : parsePlaces(values.places)[0]
  const { auth, body, body_contains, body_lacks, headers, method, success_codes, url } = values
  const call = {
    ...newCallValues,
    run_on: place?.labels.join(", ") ?? null,
    auth,
    body,
    body_contains,
    body_lacks,
    headers,
    method,
    success_codes,
    url,
    timeout_seconds: values.timeout_seconds
  }
  return (
    <>
      <CheckPreview values={values} />
      <CheckTester
        values={values}
        inputOf={httpInputOf}
        resource={({ httpMonitors }) => httpMonitors}
        explanation="Checks once, and says whether the response is as expected. Nothing is saved, and nobody is notified."
        hindrance={callTestHindranceOf(call)}
      />
      <CallTester
        title={
          place === undefined
            ? "Send the request"
            : `Send the request from ${place.labels.join(", ")}`
        }
        action="Send now"
        explanation="Sends the request once, as a delayed task, and shows the whole response."
        name={values.name}
        values={call}
      />
    </>
  )
}
