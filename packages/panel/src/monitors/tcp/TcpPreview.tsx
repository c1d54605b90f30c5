import { CheckPreview } from "../checks/CheckPreview.tsx"
import { CheckTester } from "../checks/CheckTester.tsx"
import { tcpInputOf, type TcpValues } from "./TcpFields.tsx"

/** Shows how the server would be checked, and tests it. */
export const TcpPreview = ({ values }: { readonly values: TcpValues }) => (
  <>
    <CheckPreview values={values} />
    <CheckTester
      values={values}
      inputOf={tcpInputOf}
      resource={({ tcpMonitors }) => tcpMonitors}
      hindrance={
        values.host.trim() === "" || values.port === ""
          ? "Enter a host and a port first."
          : undefined
      }
    />
  </>
)
