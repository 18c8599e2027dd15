use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, ToolSpec};
use egress::Egress;
use serde_json::Value;
use store::RateLimiter;
use tools::{Calculator, CurrentTime, Tool, ToolContext, ToolError, ToolOutput};

use crate::http::{BuiltinTool, Endpoint, HttpTool, ToolDefinition, ToolSecrets};
use crate::mcp::McpServer;

/// The tool or server of a definition.
#[derive(Clone)]
pub enum CustomTool {
    /// One tool.
    Tool(Arc<dyn Tool>),
    /// A server with tools of its own.
    Server(Arc<McpServer>),
}

/// Builds the tool or server of a definition; makes no call.
pub fn build(definition: ToolDefinition, egress: &Egress, secrets: &ToolSecrets, limiter: &RateLimiter) -> CustomTool {
    let (egress, limiter) = (egress.clone(), limiter.clone());
    CustomTool::Tool(match definition.endpoint.clone() {
        Endpoint::Server(endpoint) => {
            return CustomTool::Server(Arc::new(McpServer::new(definition, endpoint, egress, secrets, limiter)));
        }
        Endpoint::Web(endpoint) => Arc::new(HttpTool::new(definition, endpoint, egress, secrets, limiter)),
        Endpoint::Internal { tool: BuiltinTool::Calculator } => Arc::new(RenamedTool { definition, tool: Calculator }),
        Endpoint::Internal { tool: BuiltinTool::Time } => Arc::new(RenamedTool { definition, tool: CurrentTime }),
    })
}

/// A built-in tool with the name and description of a definition.
struct RenamedTool<T> {
    definition: ToolDefinition,
    tool: T,
}

#[async_trait]
impl<T: Tool> Tool for RenamedTool<T> {
    fn spec(&self, language: Language) -> ToolSpec {
        let own = self.tool.spec(language);
        ToolSpec { examples: own.examples, ..self.definition.spec(own.parameters) }
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.tool.call(arguments, context).await
    }

    fn timeout(&self) -> Duration {
        self.tool.timeout()
    }

    fn failure_text(&self, reason: &str, language: Language) -> String {
        self.tool.failure_text(reason, language)
    }
}
