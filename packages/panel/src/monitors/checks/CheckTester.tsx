import type { Check } from "@scheduling/sdk"
import type { ComponentProps } from "react"
import { Card, Facts } from "../../ui/layout/Page.tsx"
import { MonitorTester } from "../MonitorTester.tsx"
import { resultFacts } from "./checkFacts.tsx"
import type { CheckValues } from "./checkValues.ts"

/** Tests the monitor in the form, unless workers would check its target. */
export const CheckTester = <Values extends CheckValues, Input>({
  hindrance,
  ...props
}: Omit<ComponentProps<typeof MonitorTester<Values, Input, Check>>, "children">) => (
  <MonitorTester
    {...props}
    hindrance={
      props.values.places === null
        ? hindrance
        : "Workers check this target, so the service cannot test it."
    }
  >
    {(check) => (
      <Card className="p-5">
        <Facts facts={resultFacts(check)} />
      </Card>
    )}
  </MonitorTester>
)
