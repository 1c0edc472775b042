//! The commands that give a zone more addresses: a new subnet beside the full one.

use crate::{
    checks::{
        Context,
        discovery::untag_command,
        network::{Block, Path, Way},
        remedies::quote,
    },
    facts::ec2::Subnet,
    outcome::Remedy,
    target::Tag,
};

/// Where further blocks of a VPC may be from, whatever its first one is
/// (<https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html>).
const SHARED_SPACE: &str = "100.64.0.0/10";
/// The size of a further block, and of a subnet in it.
const VPC_BITS: u8 = 16;
const SUBNET_BITS: u8 = 19;
/// The smallest subnet worth making in what the VPC has left.
const SMALLEST_BITS: u8 = 22;

/// Adds the steps that make a subnet in the zone of a full one, with the tag that nodes' subnets are
/// selected by, in its place: in free space of the VPC, else in a further block that overlaps with nothing that is seen.
pub fn new_subnet(cx: &Context<'_>, remedy: Remedy, full: &Subnet, tag: &Tag) -> Remedy {
    let Some(place) = Place::find(cx, full) else { return remedy };
    let region = quote(cx.region());
    let vpc = quote(&full.vpc_id);
    let remedy = match place.further {
        Some(block) => remedy.run(format!(
            "aws ec2 associate-vpc-cidr-block --region {region} --vpc-id {vpc} --cidr-block {block}"
        )),
        None => remedy,
    };
    let value = tag.value.as_deref().unwrap_or(&cx.target.cluster);
    let tags = format!(
        "[{{\"ResourceType\":\"subnet\",\"Tags\":[{{\"Key\":{},\"Value\":{}}}]}}]",
        serde_json::json!(tag.key),
        serde_json::json!(value)
    );
    let remedy = remedy
        .run(format!(
            "aws ec2 create-subnet --region {region} --vpc-id {vpc} --availability-zone {} \
             --cidr-block {} --tag-specifications {}",
            quote(&full.zone),
            place.subnet,
            quote(&tags)
        ))
        .run(format!(
            "aws ec2 associate-route-table --region {region} --route-table-id {} --subnet-id \
             \"$(aws ec2 describe-subnets --region {region} --filters Name=vpc-id,Values={vpc} \
             Name=cidr-block,Values={} --query 'Subnets[0].SubnetId' --output text)\"",
            quote(&place.table),
            place.subnet
        ));
    match untag_command(cx, tag, &full.id, &full.tags) {
        Some(command) => remedy.run(command),
        None => remedy,
    }
}

/// Where a new subnet goes.
struct Place {
    /// A block to add to the VPC first.
    further: Option<Block>,
    subnet: Block,
    /// The route table of the full subnet.
    table: String,
}

impl Place {
    fn find(cx: &Context<'_>, full: &Subnet) -> Option<Self> {
        let network = &cx.facts.network;
        let vpc = network.vpc.value().filter(|vpc| vpc.id == full.vpc_id)?;
        // Only its owner changes a VPC.
        if vpc.owner.as_deref().is_some_and(|owner| cx.account() != Some(owner)) {
            return None;
        }
        let path = Path::of(cx, &full.id).ok().filter(|path| !matches!(path.way, Way::Gone(_)))?;
        let table = path.table.id.clone();
        let blocks: Vec<Block> = vpc.cidrs.iter().filter_map(|cidr| Block::parse(cidr)).collect();
        let subnets = cx.facts.vpc_subnets.value()?.iter();
        let taken: Vec<Block> =
            subnets.filter_map(|subnet| Block::parse(subnet.cidr.as_deref()?)).collect();
        let free = |block: &Block| !taken.iter().any(|one| one.overlaps(*block));
        let within = (SUBNET_BITS..=SMALLEST_BITS)
            .find_map(|bits| blocks.iter().flat_map(|block| block.split(bits)).find(free));
        if let Some(subnet) = within {
            return Some(Self { further: None, subnet, table });
        }
        let further = Block::parse(SHARED_SPACE)?
            .split(VPC_BITS)
            .find(|block| !blocks.iter().any(|one| one.overlaps(*block)))?;
        let subnet = further.split(SUBNET_BITS).next()?;
        Some(Self { further: Some(further), subnet, table })
    }
}
