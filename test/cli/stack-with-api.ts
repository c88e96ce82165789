import { apiDescription } from "../../src/stage/deployed-api.ts";

/** As CloudFormation describes a stack with Belfry's API among its outputs. */
export const stackWithApi = (stack: string, stage: string, url: string): string =>
  `<member><StackName>${stack}</StackName><Outputs>
    <member><OutputKey>Vpc</OutputKey><OutputValue>vpc-1</OutputValue></member>
    <member><OutputKey>Url</OutputKey><OutputValue>${url}</OutputValue><Description>${apiDescription({ system: stack, stage })}</Description></member>
  </Outputs></member>`;
